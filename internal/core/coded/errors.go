package coded

import (
	"errors"
	"fmt"
)

// Code classifies an Error for programs. Each server and command maps it to its own form: the JSON-RPC server to a number, the command
// line to an exit status.
type Code string

// The codes of domain errors. Any error that is not an *Error counts as Internal.
const (
	Invalid     Code = "invalid"     // the caller's input is wrong; the message says what was expected
	NotFound    Code = "notFound"    // no such session, task or model
	TooLarge    Code = "tooLarge"    // input over a documented limit
	Unavailable Code = "unavailable" // the state cannot be reached right now; trying again may help
	Internal    Code = "internal"    // a fault of ctxls
)

// Error is an error for callers. Message is written for users. It names what was wrong and what is allowed, and contains no SQL and no
// path that the caller did not supply.
type Error struct {
	Code    Code
	Field   string // the member of the caller's input that is wrong, like "messages[0].role"; "" where it is not about one
	Message string
	Cause   error // logged, never shown; may be nil
}

// Errorf returns an *Error with a formatted message. A %w operand becomes its Cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Cause: errors.Unwrap(err)}
}

// Field returns an *Error with code Invalid about one member of the caller's input.
func Field(field, format string, args ...any) *Error {
	e := Errorf(Invalid, format, args...)
	e.Field = field
	return e
}

// In returns the error for a caller whose input was a member of a larger one: a copy whose Field is below parent.
func (e *Error) In(parent string) *Error {
	moved := *e
	moved.Field = parent
	if e.Field != "" {
		moved.Field += "." + e.Field
	}
	return &moved
}

// Error returns the message after its field.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// Unwrap returns the cause, for errors.Is.
func (e *Error) Unwrap() error { return e.Cause }

// CodeOf returns the code of err: that of the outermost *Error in its chain, Internal for any other error, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

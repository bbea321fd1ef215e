package coded

import (
	"errors"
	"fmt"
)

// Code classifies an Error for programs. Every door maps it to its own form: the JSON-RPC server to a number, the command
// line to an exit status.
type Code string

// The codes a domain error can carry. Anything that is not an *Error counts as CodeInternal.
const (
	Invalid     Code = "invalid"     // the caller's input is wrong; the message says what was expected
	NotFound    Code = "notFound"    // no such session, task or model
	TooLarge    Code = "tooLarge"    // input over a documented limit
	Unavailable Code = "unavailable" // the state cannot be reached right now; trying again may help
	Internal    Code = "internal"    // a fault of ctxls
)

// Error is an error that a caller may be shown: Message is written for people, names what was wrong and what is allowed,
// and holds no SQL and no path that the caller did not supply.
type Error struct {
	Code    Code
	Message string
	Cause   error // logged, never shown; may be nil
}

// Errorf returns an *Error with a formatted message. A %w operand becomes its Cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Cause: errors.Unwrap(err)}
}

// Error returns the message alone.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, so that errors.Is sees through to it.
func (e *Error) Unwrap() error { return e.Cause }

// CodeOf returns the code of err: that of the outermost *Error in its chain, CodeInternal for any other error and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

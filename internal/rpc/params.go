package rpc

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/jsonscan"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// checker is what params implement that can be wrong in more than their JSON types: a required member that is missing,
// a number out of range. Its error is made by invalid.
type checker interface{ check() error }

// noParams are the params of methods that take none; whatever is sent is ignored.
type noParams struct{}

// UnmarshalJSON accepts anything.
func (*noParams) UnmarshalJSON([]byte) error { return nil }

// decode reads params as a P. Absent params are those with no members, unknown members are ignored, and null stands for
// the zero value of any member. The error carries coded.Invalid and names the member.
func decode[P any](params []byte) (*P, error) {
	p := new(P)
	if params == nil {
		params = []byte(`{}`)
	}
	if c, ok := any(p).(conversational); ok {
		params = setAside(params, c.conversation())
	}
	if err := json.Unmarshal(params, p, transport.Lenient, jsontext.AllowDuplicateNames(true), wholeNumbers); err != nil {
		return nil, paramsError(err)
	}
	if c, ok := any(p).(checker); ok {
		if err := c.check(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// wholeNumbers reads 1.0 and 2e3 as integers, which is what they are to JSON Schema and to clients whose only number is a float.
var wholeNumbers = json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(readWhole[int]), json.UnmarshalFromFunc(readWhole[int64])))

func readWhole[T int | int64](in *jsontext.Decoder, into *T) error {
	if in.PeekKind() != jsontext.KindNumber {
		return errors.ErrUnsupported
	}
	raw, err := in.ReadValue()
	if err != nil {
		return err
	}
	number, whole := jsonscan.Integer(raw)
	if !whole {
		return &json.SemanticError{JSONPointer: in.StackPointer(), JSONKind: jsontext.KindNumber, JSONValue: raw.Clone(), GoType: reflect.TypeFor[T]()}
	}
	*into = T(number)
	return nil
}

// conversational is what params implement that hold a conversation.
type conversational interface {
	conversation() *conversation.Conversation
}

// worthSettingAside is the size in bytes of members from which it pays to keep them from the decoder, which reads them
// byte by byte only to hand them on as they are.
const worthSettingAside = 4 << 10

// setAside takes the large members of a conversation off params, which are well formed, and returns the rest. What it
// takes stays part of params: methods with a conversation run side by side, and so have a copy of the library's buffer.
func setAside(params []byte, c *conversation.Conversation) (rest []byte) {
	c.Checked = true
	if len(params) < worthSettingAside || params[0] != '{' {
		return params
	}
	to := map[string]*stdjson.RawMessage{`"messages"`: &c.Messages, `"system"`: &c.System, `"tools"`: &c.Tools}
	rest = []byte{'{'}
	for name, value := range jsonscan.Members(params) {
		if bytes.IndexByte(name, '\\') >= 0 {
			clear(to) // it may be one of these names too: the decoder has all that follows
		}
		member := to[string(name)]
		delete(to, string(name)) // of doubled names the last counts, which is left to the decoder
		if member != nil && len(value) >= worthSettingAside {
			*member = value
			continue
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(append(rest, name...), ':'), value...)
	}
	return append(rest, '}')
}

// invalid returns the error about one member of the params; path is its place below them, like "messages[0].role".
func invalid(path, format string, args ...any) error {
	return coded.Field("params."+path, format, args...)
}

// inParams makes an error of the domain about what it was given one about the params. above names the member of the params
// that it was given, where it was not given them all. Every other error, and nil, stays what it is.
func inParams(err error, above ...string) error {
	e, ok := errors.AsType[*coded.Error](err)
	if !ok || e.Code != coded.Invalid {
		return err
	}
	for _, member := range above {
		if e.Field != member {
			e = e.In(member)
		}
	}
	return e.In("params")
}

// encode returns the JSON of a result. Slices that are nil become [], and < is left alone. What hands on the JSON of
// others writes itself, byte for byte, as a jsonrpc2.RawMessage does.
func encode(result any) ([]byte, error) {
	switch r := result.(type) {
	case jsonrpc2.RawMessage:
		return r, nil
	case interface{ AppendJSON(dst []byte) []byte }:
		return r.AppendJSON(nil), nil
	}
	return json.Marshal(result, transport.Lenient, jsontext.AllowDuplicateNames(true), json.Deterministic(true))
}

// paramsError says of a decoding error where it is, what was expected there and what was found.
func paramsError(err error) error {
	wrong, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return coded.Field("params", "%w", err)
	}
	if own, ok := errors.AsType[*coded.Error](wrong.Err); ok {
		return coded.Field(memberPath(wrong.JSONPointer), "%w", own)
	}
	got := transport.KindName(wrong.JSONKind)
	if v := wrong.JSONValue; len(v) > 0 {
		got = transport.Shown(v)
	}
	return coded.Field(memberPath(wrong.JSONPointer), "expected %s, got %s", expected(wrong.GoType), got)
}

// memberPath writes /messages/0/content as params.messages[0].content.
func memberPath(pointer jsontext.Pointer) string {
	var path strings.Builder
	path.WriteString("params")
	for token := range pointer.Tokens() {
		if _, err := strconv.ParseUint(token, 10, 32); err == nil {
			path.WriteString("[" + token + "]")
		} else {
			path.WriteString("." + token)
		}
	}
	return path.String()
}

// expected names the JSON that a Go type is read from.
func expected(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return "something else"
	}
	if t == reflect.TypeFor[time.Time]() {
		return "a time such as 2026-11-22T12:00:00Z"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "an integer"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "an integer that is not negative"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	}
	return "an object"
}

package rpc

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"

	"github.com/ctxls/ctxls/internal/core"
)

// maxBatch bounds the members of a batch. Editors send none at all; scripts that do send a handful.
const maxBatch = 256

// lenient lets strings hold what agents really write: transcripts cut in the middle of an emoji hold lone surrogates.
var lenient = jsontext.AllowInvalidUTF8(true)

// verdict is what is to become of one body.
type verdict struct {
	pass    []byte // what the library may see; nil is nothing
	owes    bool   // pass is answered with one frame
	refused error  // the answer to a body that is no request; the client sees it under id
	id      jsonrpc2.ID
}

// sift sorts out what the library would end the connection over: it passes well-formed requests on, drops responses (the
// server asks its client nothing), and refuses the rest. Of a batch each member is judged by itself.
func sift(body []byte) verdict {
	if !jsontext.Value(body).IsValid(lenient, jsontext.AllowDuplicateNames(true)) {
		return verdict{refused: core.Errorf(codeParse, "the message is not valid JSON")}
	}
	if body = bytes.TrimSpace(body); body[0] == '[' {
		return siftBatch(body)
	}
	kind, err := judge(body)
	if err != nil {
		return verdict{refused: err, id: readableID(body)}
	}
	if kind == response {
		return verdict{}
	}
	return verdict{pass: body, owes: kind == call}
}

// siftBatch refuses a batch as a whole, or passes it on with its bad members replaced by ones that the library and the
// handler answer as they should be.
func siftBatch(body []byte) verdict {
	var (
		members  int
		owes     bool
		replaced bool
		pass     = []byte{'['}
	)
	for member := range elements(body) {
		if members++; members > maxBatch {
			return verdict{refused: core.Errorf(codeInvalidRequest, "a batch has more than %d members", maxBatch)}
		}
		kind, err := judge(member)
		if err != nil {
			member, replaced = refusedMember(readableID(member), err), true
		}
		if err == nil && kind == response {
			replaced = true
			continue
		}
		owes = owes || err != nil || kind == call
		if len(pass) > 1 {
			pass = append(pass, ',')
		}
		pass = append(pass, member...)
	}
	switch {
	case members == 0:
		return verdict{refused: core.Errorf(codeInvalidRequest, "a batch has no members")}
	case len(pass) == 1:
		return verdict{}
	case !replaced:
		return verdict{pass: body, owes: owes}
	}
	return verdict{pass: append(pass, ']'), owes: owes}
}

// refusedMethod is the method of a batch member that stands for one that was refused; its params are the reason.
const refusedMethod = "$/refused"

// refusedMember returns the member that makes the library answer err under id. Without an id it is an object that the
// library refuses by itself.
func refusedMember(id jsonrpc2.ID, err error) []byte {
	if !id.IsValid() {
		return []byte(`{}`)
	}
	reason, _ := json.Marshal([]string{err.Error()})
	return jsonrpc2.AppendCall(nil, id, refusedMethod, reason)
}

// refusal returns the error that a member made by refusedMember stands for.
func refusal(params []byte) error {
	reason := []string{"not a request"}
	_ = json.Unmarshal(params, &reason)
	return core.Errorf(codeInvalidRequest, "%s", strings.Join(reason, " "))
}

// kind is what a well-formed message is.
type kind int

const (
	call kind = iota
	notification
	response
)

// judge says what a JSON value is as a message, or why it is none.
func judge(message []byte) (kind, error) {
	view, err := jsonrpc2.ScanMessageView(message)
	if err != nil {
		return 0, fault(message)
	}
	switch view.Kind {
	case jsonrpc2.MessageViewCall:
		return call, nil
	case jsonrpc2.MessageViewNotification:
		return notification, nil
	default:
		return response, nil
	}
}

// fault names what is wrong with a JSON value that is no message.
func fault(message []byte) error {
	refuse := func(format string, args ...any) error { return core.Errorf(codeInvalidRequest, format, args...) }
	if got := jsontext.Value(message).Kind(); got != jsontext.KindBeginObject {
		return refuse("expected a request object, got %s", kindName(got))
	}
	m := members(message)
	if version := m["jsonrpc"]; string(version) != `"2.0"` {
		return refuse(`jsonrpc: expected "2.0", got %s`, shown(version))
	}
	if method, ok := m["method"]; ok && method.Kind() != jsontext.KindString {
		return refuse("method: expected a string, got %s", shown(method))
	}
	if id, ok := m["id"]; ok && id.Kind() != jsontext.KindNull && !readableID(message).IsValid() {
		return refuse("id: expected a string or an integer of 64 bits, got %s", shown(id))
	}
	if _, ok := m["method"]; !ok {
		return refuse("method: required, expected a string")
	}
	return refuse("a request has neither result nor error")
}

// readableID returns the id that message, a JSON value, can be answered under; the zero ID when there is none.
func readableID(message []byte) jsonrpc2.ID {
	raw := members(message)["id"]
	var text string
	var number int64
	switch {
	case raw.Kind() == jsontext.KindString && json.Unmarshal(raw, &text) == nil:
		return jsonrpc2.NewStringID(text)
	case raw.Kind() == jsontext.KindNumber && json.Unmarshal(raw, &number) == nil:
		return jsonrpc2.NewNumberID(number)
	}
	return jsonrpc2.ID{}
}

// members returns the members of a JSON object, of doubled names the last as the library has it; none of any other value.
func members(message []byte) map[string]jsontext.Value {
	var m map[string]jsontext.Value
	_ = json.Unmarshal(message, &m)
	return m
}

// shown is how a value that was not expected stands in a message.
func shown(v jsontext.Value) string {
	switch v.Kind() {
	case jsontext.KindInvalid:
		return "nothing"
	case jsontext.KindString, jsontext.KindNumber:
		if len(v) <= 40 {
			return string(v)
		}
	}
	return kindName(v.Kind())
}

func kindName(k jsontext.Kind) string {
	switch k {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "a boolean"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "an array"
	}
	return "nothing"
}

// elements yields the elements of array, which is valid JSON, as slices of it.
func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		start, depth, inString := 1, 0, false
		for i := 0; i < len(array); i++ {
			c := array[i]
			switch {
			case inString && c == '\\':
				i++
			case c == '"':
				inString = !inString
			case inString:
			case c == '[' || c == '{':
				depth++
			case depth == 1 && (c == ',' || c == ']'):
				element := bytes.TrimSpace(array[start:i])
				if len(element) > 0 && !yield(element) {
					return
				}
				start = i + 1
				if c == ']' {
					return
				}
			case c == ']' || c == '}':
				depth--
			}
		}
	}
}

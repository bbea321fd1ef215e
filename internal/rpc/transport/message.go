package transport

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/jsonscan"
)

// MaxBatch bounds the members of a batch. Editors send no batches; scripts send small ones.
const MaxBatch = 256

// Lenient accepts invalid UTF-8 in strings: transcripts that are cut in the middle of an emoji contain lone surrogates.
var Lenient = jsontext.AllowInvalidUTF8(true)

// verdict says what to do with one body.
type verdict struct {
	pass    []byte // what to pass to the library; nil is nothing
	params  []byte // large params, for which pass has a stand-in
	owes    bool   // pass is answered with one frame
	refused error  // the answer to a body that is no request; the client sees it under id
	id      jsonrpc2.ID
}

// sift filters a body, since the library ends the connection on an invalid message. It passes well-formed requests, drops responses
// (the server sends no requests), and refuses the rest. It checks each member of a batch by itself.
func sift(body []byte) verdict {
	var message envelope // found while the body is checked: it may be megabytes
	whole, err := jsonscan.Parse(body, func(name, val jsonscan.Value) { message.set(name.Raw(), val.Raw()) })
	if err != nil {
		return verdict{refused: coded.Errorf(CodeParse, "the message is %w", err)}
	}
	if body = whole.Raw(); whole.IsArray() {
		return siftBatch(body)
	}
	message.value = body
	kind, err := message.judge()
	if err != nil {
		return verdict{refused: err, id: ReadID(message.id)}
	}
	if kind == response {
		return verdict{}
	}
	v := verdict{owes: kind == call}
	if len(message.params) >= worthSettingAside && (message.params[0] == '{' || message.params[0] == '[') {
		v.params, message.params, message.rewritten = message.params, standIn, true
	}
	v.pass = message.plain()
	return v
}

// worthSettingAside is the size in bytes of params from which the library does not get them: it would walk through them byte by byte,
// and copy them.
const worthSettingAside = 64 << 10

// standIn is what the library gets in place of large params. The mark is random, so that no client sends it.
var standIn = []byte(`["` + keptMark + `params"]`)

// siftBatch refuses a batch as a whole, or passes it with each invalid member replaced by a call that the handler answers with an
// error.
func siftBatch(body []byte) verdict {
	var (
		members  int
		owes     bool
		replaced bool
		pass     = []byte{'['}
	)
	for member := range jsonscan.Elements(body) {
		if members++; members > MaxBatch {
			return verdict{refused: coded.Errorf(CodeInvalidRequest, "a batch has more than %d members", MaxBatch)}
		}
		message := open(member)
		kind, err := message.judge()
		if err != nil {
			member, replaced = refusedMember(ReadID(message.id), err), true
		}
		if err == nil && kind == response {
			replaced = true
			continue
		}
		if err == nil && message.rewritten {
			member, replaced = message.plain(), true
		}
		owes = owes || err != nil || kind == call
		if len(pass) > 1 {
			pass = append(pass, ',')
		}
		pass = append(pass, member...)
	}
	switch {
	case members == 0:
		return verdict{refused: coded.Errorf(CodeInvalidRequest, "a batch has no members")}
	case len(pass) == 1:
		return verdict{}
	case !replaced:
		return verdict{pass: body, owes: owes}
	}
	return verdict{pass: append(pass, ']'), owes: owes}
}

// refusedMethod is the method of a batch member that stands for a refused one; its params are the reason. The mark is random, so
// that no client can call the method.
var refusedMethod = keptMark + "refused"

// refusedMember returns the call that the handler answers with err under id. Without an ID, the reply has the ID null.
func refusedMember(id jsonrpc2.ID, err error) []byte {
	message := err.Error()
	if !id.IsValid() {
		id = keptID([]byte("null"))
		message = `expected a request: {"jsonrpc": "2.0", "method": string, "id": string or integer, "params": object}`
	}
	reason, _ := json.Marshal([]string{message})
	return jsonrpc2.AppendCall(nil, id, refusedMethod, reason)
}

// Refused returns why a batch member was refused, if req stands for one, and nil for any other request.
func Refused(req *jsonrpc2.Request) error {
	if req.Method() != refusedMethod {
		return nil
	}
	var reason []string
	_ = json.Unmarshal(req.Params(), &reason) // as refusedMember wrote it
	return coded.Errorf(CodeInvalidRequest, "%s", strings.Join(reason, " "))
}

// kind is what a well-formed message is.
type kind int

const (
	call kind = iota
	notification
	response
)

// envelope holds the members of a message; nil is absent. If a name occurs twice, the last one counts, as for the library.
type envelope struct {
	value                                        []byte
	version, id, method, params, result, failure jsontext.Value
	rewritten                                    bool // a name is written with escapes, which the library does not read, or the ID is kept
}

// readID replaces an ID that the library would change, and reports whether it is one at all.
func (e *envelope) readID() bool {
	id := ReadID(e.id)
	if isKept(id) {
		text, _ := id.StringValue()
		e.id, e.rewritten = strconv.AppendQuote(nil, text), true
	}
	return id.IsValid()
}

// plain returns the message with all names and the ID as the library reads them.
func (e *envelope) plain() []byte {
	if !e.rewritten {
		return e.value
	}
	out := []byte(`{"jsonrpc":"2.0"`)
	for _, m := range []struct {
		name string
		v    jsontext.Value
	}{{"id", e.id}, {"method", e.method}, {"params", e.params}} {
		if m.v != nil {
			out = append(append(out, `,"`+m.name+`":`...), m.v...)
		}
	}
	return append(out, '}')
}

func open(value []byte) envelope {
	e := envelope{value: value}
	if value[0] != '{' {
		return e
	}
	for name, v := range jsonscan.Members(value) {
		e.set(name, v)
	}
	return e
}

// set takes a member over. The name is as it is written, which may be with escapes.
func (e *envelope) set(name, v []byte) {
	if bytes.IndexByte(name, '\\') >= 0 {
		var plain string
		if json.Unmarshal(name, &plain) == nil {
			name, e.rewritten = strconv.AppendQuote(nil, plain), true
		}
	}
	switch string(name) {
	case `"jsonrpc"`:
		e.version = v
	case `"id"`:
		e.id = v
	case `"method"`:
		e.method = v
	case `"params"`:
		e.params = v
	case `"result"`:
		e.result = v
	case `"error"`:
		e.failure = v
	}
}

// judge returns the kind of a message, or why it is invalid.
func (e *envelope) judge() (kind, error) {
	refuse := func(format string, args ...any) (kind, error) {
		return 0, coded.Errorf(CodeInvalidRequest, format, args...)
	}
	hasID := e.id != nil && e.id.Kind() != jsontext.KindNull
	switch {
	case e.value[0] != '{':
		return refuse("expected a request object, got %s", KindName(jsontext.Value(e.value).Kind()))
	case string(e.version) != `"2.0"`:
		return refuse(`jsonrpc: expected "2.0", got %s`, Shown(e.version))
	case e.method == nil && (e.result != nil || e.failure != nil):
		return response, nil
	case e.method == nil:
		return refuse("method: required, expected a string")
	case e.method.Kind() != jsontext.KindString:
		return refuse("method: expected a string, got %s", Shown(e.method))
	case e.id != nil && !hasID:
		return refuse("id: expected a string or an integer of 64 bits, got null; leave it out of a notification")
	case hasID && !e.readID():
		return refuse("id: expected a string or an integer of 64 bits, got %s", Shown(e.id))
	case e.result != nil || e.failure != nil:
		return refuse("a request has neither result nor error")
	case hasID:
		return call, nil
	}
	return notification, nil
}

// Shown returns an unexpected value as an error message shows it.
func Shown(v jsontext.Value) string {
	switch v.Kind() {
	case jsontext.KindInvalid:
		return "nothing"
	case jsontext.KindString, jsontext.KindNumber:
		if len(v) <= 40 {
			return string(v)
		}
	}
	return KindName(v.Kind())
}

// KindName returns the name of a JSON kind for an error message.
func KindName(k jsontext.Kind) string {
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

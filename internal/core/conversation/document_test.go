package conversation

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/google/go-cmp/cmp"
)

func TestReadDocument(t *testing.T) {
	hi := `{"role":"user","content":"hi"}`
	for _, tt := range []struct {
		name, doc string
		want      Conversation
		with      string // the document with [1] for its messages
	}{
		{"an array", " [" + hi + " ]\n", Conversation{Messages: json.RawMessage("[" + hi + " ]")}, " [1]\n"},
		{
			"a request", `{ "model":"gpt-4o", "messages" : [ ] , "system":"Be terse.","tools":[{}], "temperature":1.50 }`,
			Conversation{Messages: json.RawMessage("[ ]"), System: json.RawMessage(`"Be terse."`), Tools: json.RawMessage("[{}]"), Model: "gpt-4o"},
			`{ "model":"gpt-4o", "messages" : [1] , "system":"Be terse.","tools":[{}], "temperature":1.50 }`,
		},
		{
			"a request of Gemini's", `{"contents":[],"systemInstruction":{"parts":[]}}`,
			Conversation{Messages: json.RawMessage("[]"), System: json.RawMessage(`{"parts":[]}`)}, `{"contents":[1],"systemInstruction":{"parts":[]}}`,
		},
		{"the last one counts", `{"messages":[1],"messages":[2],"model":null}`, Conversation{Messages: json.RawMessage("[2]")}, `{"messages":[1],"messages":[1],"model":null}`},
		{"a byte order mark", "\ufeff{\"messages\":[]}", Conversation{Messages: json.RawMessage("[]")}, "\ufeff{\"messages\":[1]}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadDocument([]byte(tt.doc))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Conversation); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.with, string(got.With(json.RawMessage("[1]")))); diff != "" {
				t.Errorf("with other messages (-want +got):\n%s", diff)
			}
			if same := got.With(got.Messages); string(same) != tt.doc {
				t.Errorf("with its own messages it became %s", same)
			}
		})
	}
}

func TestReadDocumentRefuses(t *testing.T) {
	for _, tt := range []struct{ doc, want string }{
		{``, "not valid JSON at byte 0: expected a value"},
		{`[] []`, "not valid JSON at byte 3: expected nothing after the value"},
		{`7`, `expected an array of messages or an object with "messages", got a number`},
		{`{"message":[]}`, `expected an array of messages or an object with "messages", got an object`},
		{`{"messages":{}}`, `expected an array of messages or an object with "messages", got an object`},
		{`{"messages":[],"model":4}`, "model: expected a string, got a number"},
	} {
		_, err := ReadDocument([]byte(tt.doc))
		if e, ok := errors.AsType[*coded.Error](err); !ok || e.Code != coded.Invalid || e.Error() != tt.want {
			t.Errorf("%s: got %v, want %s (invalid)", tt.doc, err, tt.want)
		}
	}
}

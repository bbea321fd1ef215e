package conversation

import (
	"bytes"
	"encoding/json"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/jsonscan"
)

// Document is a conversation in a file: an array of messages, or the body of a request to a model.
type Document struct {
	Conversation
	head, tail []byte // the bytes around the messages
}

// ReadDocument finds the conversation in a JSON document: an array of messages, an object with messages and optional system, tools and
// model (OpenAI, Anthropic, an export of OpenCode), or one with contents, systemInstruction and tools (Gemini). It skips a byte order
// mark.
//
// Errors have coded.Invalid and say what was expected. Measure and Trim check the messages themselves.
func ReadDocument(doc []byte) (Document, error) {
	text := bytes.TrimPrefix(doc, []byte("\ufeff"))
	v, err := jsonscan.Parse(text, nil)
	if err != nil {
		return Document{}, coded.Errorf(coded.Invalid, "%w", err)
	}
	var system, tools, model jsonscan.Value
	messages := v
	if v.IsObject() {
		messages = jsonscan.Value{}
		v.Pick(
			jsonscan.Into("messages", &messages), jsonscan.Into("contents", &messages),
			jsonscan.Into("system", &system), jsonscan.Into("systemInstruction", &system), jsonscan.Into("system_instruction", &system),
			jsonscan.Into("tools", &tools), jsonscan.Into("model", &model),
		)
	}
	if !messages.IsArray() {
		return Document{}, coded.Errorf(coded.Invalid, `expected an array of messages or an object with "messages", got %s`, v.Kind())
	}
	if model.Present() && !model.IsString() {
		return Document{}, coded.Field("model", "expected a string, got %s", model.Kind())
	}
	before := len(doc) - len(text)
	return Document{
		Conversation: Conversation{Messages: messages.Raw(), System: system.Raw(), Tools: tools.Raw(), Model: model.Text()},
		head:         doc[:before+messages.Lo],
		tail:         doc[before+messages.Hi:],
	}, nil
}

// With returns the document with other messages, and all else byte for byte.
func (d Document) With(messages json.RawMessage) []byte {
	return bytes.Join([][]byte{d.head, messages, d.tail}, nil)
}

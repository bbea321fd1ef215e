package core

import (
	"bytes"
	"encoding/json"
)

// Document is a conversation as it lies in a file: an array of messages, or the body of a request to a model.
type Document struct {
	Conversation
	head, tail []byte // what stands around the messages
}

// ReadDocument finds the conversation in a JSON document: an array of messages, an object with messages and perhaps system,
// tools and model (OpenAI, Anthropic, an export of OpenCode's), or one with contents, systemInstruction and tools (Gemini).
// A byte order mark in front is passed over.
//
// Errors carry CodeInvalid and say what was expected. The messages themselves are looked at by Measure and Trim.
func ReadDocument(doc []byte) (Document, error) {
	text := bytes.TrimPrefix(doc, []byte("\ufeff"))
	v, err := parse(text, nil)
	if err != nil {
		return Document{}, Errorf(CodeInvalid, "%w", err)
	}
	var system, tools, model value
	messages := v
	if v.isObject() {
		messages = value{}
		v.pick(
			field{"messages", &messages}, field{"contents", &messages},
			field{"system", &system}, field{"systemInstruction", &system}, field{"system_instruction", &system},
			field{"tools", &tools}, field{"model", &model},
		)
	}
	if !messages.isArray() {
		return Document{}, Errorf(CodeInvalid, `expected an array of messages or an object with "messages", got %s`, v.kind())
	}
	if model.present() && !model.isString() {
		return Document{}, Errorf(CodeInvalid, "%w", at("model", mismatch("a string", model)))
	}
	before := len(doc) - len(text)
	return Document{
		Conversation: Conversation{Messages: messages.raw(), System: system.bytes(), Tools: tools.bytes(), Model: model.text()},
		head:         doc[:before+messages.lo],
		tail:         doc[before+messages.hi:],
	}, nil
}

// With returns the document with other messages in the place of its own, all else byte for byte.
func (d Document) With(messages json.RawMessage) []byte {
	return bytes.Join([][]byte{d.head, messages, d.tail}, nil)
}

// bytes returns the bytes of a value, nil for a member that is not there.
func (v value) bytes() []byte {
	if v.doc == nil {
		return nil
	}
	return v.raw()
}

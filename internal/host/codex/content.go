package codex

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// item returns what an item of the conversation adds to it. Content is on file twice, here as the model is sent it and in events
// for the screen; only this counts.
func item(payload []byte) []session.Piece {
	var kind, role, content, name, arguments, input, callID, output, encrypted []byte
	transcript.Pick(payload,
		transcript.Field{Name: "type", Value: &kind},
		transcript.Field{Name: "role", Value: &role},
		transcript.Field{Name: "content", Value: &content},
		transcript.Field{Name: "name", Value: &name},
		transcript.Field{Name: "arguments", Value: &arguments},
		transcript.Field{Name: "input", Value: &input},
		transcript.Field{Name: "call_id", Value: &callID},
		transcript.Field{Name: "output", Value: &output},
		transcript.Field{Name: "encrypted_content", Value: &encrypted})
	switch transcript.String(kind) {
	case "message":
		return message(transcript.String(role), content)
	case "reasoning":
		return []session.Piece{{Class: session.Thought, Bytes: max(0, len(encrypted)-len(`""`))}}
	case "function_call", "custom_tool_call":
		return []session.Piece{{
			Class: session.ToolCall, Tool: transcript.String(name), CallID: transcript.String(callID),
			Text: transcript.String(arguments) + transcript.String(input),
		}}
	case "function_call_output", "custom_tool_call_output":
		return result(transcript.String(callID), output)
	}
	return nil
}

// message returns what a message adds. What the host says in the name of the user begins with a tag.
func message(role string, content []byte) []session.Piece {
	pieces := texts(content)
	for i := range pieces {
		switch p := &pieces[i]; {
		case p.Class == session.Image:
		case role == "assistant":
			p.Class = session.AnswerText
		case role == "user" && !strings.HasPrefix(strings.TrimSpace(p.Text), "<") && !isMachine(p.Text):
			p.Class = session.PromptText
		}
	}
	return pieces
}

// result returns what the result of a call adds: one piece, and one for each image. Older versions wrap its text in an object.
func result(callID string, output []byte) []session.Piece {
	var inner []byte
	if transcript.Pick(output, transcript.Field{Name: "content", Value: &inner}) && inner != nil {
		output = inner
	}
	whole := session.Piece{Class: session.ToolResult, CallID: callID}
	var images []session.Piece
	for _, p := range texts(output) {
		if p.Class == session.Image {
			images = append(images, p)
		} else {
			whole.Text += p.Text
		}
	}
	return append([]session.Piece{whole}, images...)
}

// texts returns the pieces of a string or of an array of parts.
func texts(content []byte) (pieces []session.Piece) {
	if s := transcript.String(content); s != "" {
		return []session.Piece{{Class: session.InjectedText, Text: s}}
	}
	transcript.Elements(content, func(part []byte) bool {
		var kind, text []byte
		transcript.Pick(part, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "text", Value: &text})
		switch s := transcript.String(text); {
		case transcript.String(kind) == "input_image":
			pieces = append(pieces, session.Piece{Class: session.Image})
		case s != "":
			pieces = append(pieces, session.Piece{Class: session.InjectedText, Text: s})
		}
		return true
	})
	return pieces
}

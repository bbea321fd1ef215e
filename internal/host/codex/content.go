package codex

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// item returns what an item of the conversation adds to it. Content is on file twice, here as the model is sent it and in events
// for the screen; only this counts.
func item(payload []byte) []core.Piece {
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
		return []core.Piece{{Class: core.Thought, Bytes: max(0, len(encrypted)-len(`""`))}}
	case "function_call", "custom_tool_call":
		return []core.Piece{{
			Class: core.ToolCall, Tool: transcript.String(name), CallID: transcript.String(callID),
			Text: transcript.String(arguments) + transcript.String(input),
		}}
	case "function_call_output", "custom_tool_call_output":
		return result(transcript.String(callID), output)
	}
	return nil
}

// message returns what a message adds. What the host says in the name of the user begins with a tag.
func message(role string, content []byte) []core.Piece {
	pieces := texts(content)
	for i := range pieces {
		switch p := &pieces[i]; {
		case p.Class == core.Image:
		case role == "assistant":
			p.Class = core.AnswerText
		case role == "user" && !strings.HasPrefix(strings.TrimSpace(p.Text), "<") && !isMachine(p.Text):
			p.Class = core.PromptText
		}
	}
	return pieces
}

// result returns what the result of a call adds: one piece, and one for each image. Older versions wrap its text in an object.
func result(callID string, output []byte) []core.Piece {
	var inner []byte
	if transcript.Pick(output, transcript.Field{Name: "content", Value: &inner}) && inner != nil {
		output = inner
	}
	whole := core.Piece{Class: core.ToolResult, CallID: callID}
	var images []core.Piece
	for _, p := range texts(output) {
		if p.Class == core.Image {
			images = append(images, p)
		} else {
			whole.Text += p.Text
		}
	}
	return append([]core.Piece{whole}, images...)
}

// texts returns the pieces of a string or of an array of parts.
func texts(content []byte) (pieces []core.Piece) {
	if s := transcript.String(content); s != "" {
		return []core.Piece{{Class: core.InjectedText, Text: s}}
	}
	transcript.Elements(content, func(part []byte) bool {
		var kind, text []byte
		transcript.Pick(part, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "text", Value: &text})
		switch s := transcript.String(text); {
		case transcript.String(kind) == "input_image":
			pieces = append(pieces, core.Piece{Class: core.Image})
		case s != "":
			pieces = append(pieces, core.Piece{Class: core.InjectedText, Text: s})
		}
		return true
	})
	return pieces
}

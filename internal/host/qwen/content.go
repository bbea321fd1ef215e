package qwen

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// part is what one part of a message holds: a text, a call, the response to one, or data.
type part struct {
	text, role     string
	call, response []byte
	thought, data  bool
}

// eachPart calls visit with the parts of a message.
func eachPart(message []byte, visit func(part)) {
	var role, parts []byte
	transcript.Pick(message, transcript.Field{Name: "role", Value: &role}, transcript.Field{Name: "parts", Value: &parts})
	transcript.Elements(parts, func(value []byte) bool {
		var text, thought, inline, file []byte
		p := part{role: transcript.String(role)}
		transcript.Pick(value,
			transcript.Field{Name: "text", Value: &text},
			transcript.Field{Name: "thought", Value: &thought},
			transcript.Field{Name: "functionCall", Value: &p.call},
			transcript.Field{Name: "functionResponse", Value: &p.response},
			transcript.Field{Name: "inlineData", Value: &inline},
			transcript.Field{Name: "fileData", Value: &file})
		p.text, p.thought, p.data = transcript.String(text), transcript.IsTrue(thought), inline != nil || file != nil
		visit(p)
		return true
	})
}

// named returns the id, the name and the arguments of a call, or the name and the id of a response with what it holds.
func (p part) named() (id, name string, value []byte) {
	var rawID, rawName, response []byte
	of := p.call
	if of == nil {
		of = p.response
	}
	transcript.Pick(of,
		transcript.Field{Name: "id", Value: &rawID},
		transcript.Field{Name: "name", Value: &rawName},
		transcript.Field{Name: "args", Value: &value},
		transcript.Field{Name: "response", Value: &response})
	if p.call == nil {
		value = response
	}
	return transcript.String(rawID), transcript.String(rawName), value
}

// Texts that the host sends in the name of the user begin with one of these.
var machineTags = []string{"<qwen:user-prompt-submit-context>", "<system-reminder>", "<task-notification>"}

func isMachine(text string) bool {
	text = strings.TrimSpace(text)
	for _, tag := range machineTags {
		if strings.HasPrefix(text, tag) {
			return true
		}
	}
	return false
}

// pieces returns what a message adds to the conversation. The host sends no thoughts back.
func pieces(message []byte) (all []session.Piece) {
	eachPart(message, func(p part) {
		switch {
		case p.thought:
		case p.call != nil:
			id, name, args := p.named()
			piece := session.Piece{Class: session.ToolCall, Tool: name, CallID: id, Text: string(args)}
			if paths := toolPaths(name, args, ""); len(paths) == 1 && paths[0].Use > session.Mentioned {
				piece.Path = paths[0].Path
			}
			all = append(all, piece)
		case p.response != nil:
			id, name, response := p.named()
			all = append(all, session.Piece{Class: session.ToolResult, Tool: name, CallID: id, Text: said(response)})
		case p.data:
			all = append(all, session.Piece{Class: session.Image})
		case p.text == "":
		case p.role == "model":
			all = append(all, session.Piece{Class: session.AnswerText, Text: p.text})
		case isMachine(p.text):
			all = append(all, session.Piece{Class: session.InjectedText, Text: p.text})
		default:
			all = append(all, session.Piece{Class: session.PromptText, Text: p.text})
		}
	})
	return all
}

// said returns the text of a response: its output or its error, or else the whole.
func said(response []byte) string {
	var output, failure []byte
	transcript.Pick(response, transcript.Field{Name: "output", Value: &output}, transcript.Field{Name: "error", Value: &failure})
	for _, value := range [][]byte{output, failure} {
		if text := transcript.String(value); text != "" {
			return text
		}
	}
	return string(response)
}

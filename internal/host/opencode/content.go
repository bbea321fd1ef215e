package opencode

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// part is the raw members of a part of a message that mean something here.
type part struct {
	kind, text, synthetic, ignored, mime, metadata []byte
	tool, callID, state                            []byte
}

func (p *part) read(data []byte) {
	transcript.Pick(data,
		transcript.Field{Name: "type", Value: &p.kind},
		transcript.Field{Name: "text", Value: &p.text},
		transcript.Field{Name: "synthetic", Value: &p.synthetic},
		transcript.Field{Name: "ignored", Value: &p.ignored},
		transcript.Field{Name: "mime", Value: &p.mime},
		transcript.Field{Name: "metadata", Value: &p.metadata},
		transcript.Field{Name: "tool", Value: &p.tool},
		transcript.Field{Name: "callID", Value: &p.callID},
		transcript.Field{Name: "state", Value: &p.state})
}

// said returns what a message of the user's adds to the conversation.
func said(parts []byte) (pieces []session.Piece) {
	transcript.Elements(parts, func(data []byte) bool {
		var p part
		p.read(data)
		switch transcript.String(p.kind) {
		case "text":
			text := transcript.String(p.text)
			if text == "" || transcript.IsTrue(p.ignored) { // shown to the user, not to the model
				return true
			}
			class := session.PromptText
			if transcript.IsTrue(p.synthetic) {
				class = session.InjectedText
			}
			pieces = append(pieces, session.Piece{Class: class, Text: text})
		case "file":
			pieces = append(pieces, p.file()...)
		}
		return true
	})
	return pieces
}

// answered returns what an answer adds to the conversation: its text, its calls and their results.
func answered(parts []byte) (pieces []session.Piece) {
	transcript.Elements(parts, func(data []byte) bool {
		var p part
		p.read(data)
		switch transcript.String(p.kind) {
		case "text":
			if text := transcript.String(p.text); text != "" {
				pieces = append(pieces, session.Piece{Class: session.AnswerText, Text: text})
			}
		case "reasoning":
			pieces = append(pieces, session.Piece{Class: session.Thought, Bytes: p.signature()})
		case "tool":
			pieces = append(pieces, p.call()...)
		}
		return true
	})
	return pieces
}

// call returns a call with its result.
func (p *part) call() []session.Piece {
	var input, output, failure, files []byte
	transcript.Pick(p.state,
		transcript.Field{Name: "input", Value: &input},
		transcript.Field{Name: "output", Value: &output},
		transcript.Field{Name: "error", Value: &failure},
		transcript.Field{Name: "attachments", Value: &files})
	var file []byte
	transcript.Pick(input, transcript.Field{Name: "filePath", Value: &file})
	tool, id, path := transcript.String(p.tool), transcript.String(p.callID), transcript.String(file)
	if output == nil {
		output = failure
	}
	pieces := []session.Piece{
		{Class: session.ToolCall, Tool: tool, CallID: id, Path: path, Text: string(input)},
		{Class: session.ToolResult, Tool: tool, CallID: id, Path: path, Text: transcript.String(output)},
	}
	transcript.Elements(files, func(data []byte) bool {
		var attached part
		attached.read(data)
		pieces = append(pieces, attached.file()...)
		return true
	})
	return pieces
}

// file returns an attached file. Text files and directories reach the model as texts of their own beside it.
func (p *part) file() []session.Piece {
	if mime := transcript.String(p.mime); strings.HasPrefix(mime, "text/") || mime == "application/x-directory" {
		return nil
	}
	return []session.Piece{{Class: session.Image}}
}

// signature returns the length of the signature of a thought: what the model is given again is behind it.
func (p *part) signature() int {
	var provider, signature []byte
	transcript.Pick(p.metadata, transcript.Field{Name: "anthropic", Value: &provider})
	transcript.Pick(provider, transcript.Field{Name: "signature", Value: &signature})
	return len(transcript.String(signature))
}

// answerText returns the text of an answer.
func answerText(parts []byte) string {
	var texts []string
	for _, piece := range answered(parts) {
		if piece.Class == session.AnswerText {
			texts = append(texts, piece.Text)
		}
	}
	return strings.Join(texts, "\n")
}

package gemini

import (
	"regexp"
	"strings"
	"sync"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// content returns what a message of a transcript adds to the conversation. The host's own notes (info, error, warning) add
// nothing, and neither do thoughts: the host sends none back (its source: scrubContents).
func content(data []byte) []session.Piece {
	var kind, parts, calls []byte
	transcript.Pick(data,
		transcript.Field{Name: "type", Value: &kind},
		transcript.Field{Name: "content", Value: &parts},
		transcript.Field{Name: "toolCalls", Value: &calls})
	switch transcript.String(kind) {
	case "user":
		return said(parts)
	case "gemini":
		return answer(parts, calls)
	}
	return nil
}

// answer returns what the model said and called. An answer as it came is a text with its calls, and their results, beside it;
// in a history that the host rewrote, the calls are among the parts. Results are in the message that follows.
func answer(parts, calls []byte) []session.Piece {
	var pieces []session.Piece
	called := false
	eachPart(parts, func(p part) {
		switch {
		case transcript.IsTrue(p.thought):
		case p.call != nil:
			called = true
			pieces = append(pieces, call(p.call))
		case p.inline != nil || p.file != nil:
			pieces = append(pieces, session.Piece{Class: session.Image})
		case p.text != "":
			pieces = append(pieces, session.Piece{Class: session.AnswerText, Text: p.text})
		}
	})
	if !called {
		transcript.Elements(calls, func(value []byte) bool {
			pieces = append(pieces, call(value))
			return true
		})
	}
	return pieces
}

// call returns a call of a tool, with the file that it is about.
func call(value []byte) session.Piece {
	var id, name, args []byte
	transcript.Pick(value,
		transcript.Field{Name: "id", Value: &id},
		transcript.Field{Name: "name", Value: &name},
		transcript.Field{Name: "args", Value: &args})
	p := session.Piece{Class: session.ToolCall, Tool: transcript.String(name), CallID: transcript.String(id), Text: string(args)}
	if paths := toolPaths(p.Tool, args, ""); len(paths) == 1 && paths[0].Use > session.Mentioned {
		p.Path = paths[0].Path
	}
	return p
}

// Texts that the host sends in the name of the user. They are compiled when they are asked: hooks rarely do, and start often.
var (
	hookContext    = compiled(`(?s)^<hook_context>.*?</hook_context>[\r\n]*`)
	referencedFile = compiled(`^\s*Content from @(.+):\s*$`) // stands before the file's text
	isMachine      = compiled(`^\s*(<session_context>|Here is the user's editor context|Here is a summary of changes in the user's editor context|Please continue\.$)`)
)

func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

const (
	summaryMark   = "<state_snapshot>" // in the summary that a compaction left, which may begin with a scratchpad
	endReferenced = "--- End of content ---"
)

// said returns what a message adds that the host sent the model: results of calls, or what was typed, with files that it names and
// what hooks said.
func said(parts []byte) (pieces []session.Piece) {
	add := func(class session.PieceClass, text, path string) {
		if text != "" {
			pieces = append(pieces, session.Piece{Class: class, Text: text, Path: path})
		}
	}
	attached, path := false, ""
	eachPart(parts, func(p part) {
		if p.response != nil {
			pieces = append(pieces, result(p.response)...)
			return
		}
		if p.inline != nil || p.file != nil {
			pieces = append(pieces, session.Piece{Class: session.Image})
			return
		}
		text := p.text
		for !attached {
			end := hookContext().FindStringIndex(text)
			if end == nil {
				break
			}
			add(session.InjectedText, text[:end[1]], "")
			text = text[end[1]:]
		}
		if name := referencedFile().FindStringSubmatch(text); attached && name != nil {
			path = name[1]
			add(session.InjectedText, text, path)
			return
		}
		typed, files, found := strings.Cut(text, referenced)
		switch {
		case attached:
			add(session.InjectedText, text, path)
			if strings.TrimSpace(text) == endReferenced {
				attached = false
			}
			path = ""
		case isMachine().MatchString(text):
			add(session.InjectedText, text, "")
		case strings.Contains(text, summaryMark) && strings.HasPrefix(strings.TrimSpace(text), "<"):
			add(session.SummaryText, text, "")
		case found:
			add(session.PromptText, strings.TrimRight(typed, "\r\n"), "")
			add(session.InjectedText, referenced+files, "")
			attached = strings.TrimSpace(files) == "" // else all is in one part
		default:
			add(session.PromptText, text, "")
		}
	})
	return pieces
}

// result returns what a tool gave back: one piece, and one for each image.
func result(value []byte) []session.Piece {
	var id, name, response, output, problem, parts []byte
	transcript.Pick(value,
		transcript.Field{Name: "id", Value: &id},
		transcript.Field{Name: "name", Value: &name},
		transcript.Field{Name: "response", Value: &response},
		transcript.Field{Name: "parts", Value: &parts})
	transcript.Pick(response, transcript.Field{Name: "output", Value: &output}, transcript.Field{Name: "error", Value: &problem})
	text := transcript.String(output) + transcript.String(problem)
	if text == "" {
		text = string(response)
	}
	pieces := []session.Piece{{Class: session.ToolResult, Tool: transcript.String(name), CallID: transcript.String(id), Text: text}}
	eachPart(parts, func(p part) {
		if p.inline != nil || p.file != nil {
			pieces = append(pieces, session.Piece{Class: session.Image})
		}
	})
	return pieces
}

// part is one part of a message's content.
type part struct {
	text                                  string
	thought, call, response, inline, file []byte
}

// eachPart visits the parts of a content: a text, a part, or a list of them.
func eachPart(content []byte, visit func(part)) {
	one := func(value []byte) bool {
		p := part{text: transcript.String(value)}
		var text []byte
		if transcript.Pick(value,
			transcript.Field{Name: "text", Value: &text},
			transcript.Field{Name: "thought", Value: &p.thought},
			transcript.Field{Name: "functionCall", Value: &p.call},
			transcript.Field{Name: "functionResponse", Value: &p.response},
			transcript.Field{Name: "inlineData", Value: &p.inline},
			transcript.Field{Name: "fileData", Value: &p.file}) {
			p.text = transcript.String(text)
		}
		visit(p)
		return true
	}
	if !transcript.Elements(content, one) {
		one(content)
	}
}

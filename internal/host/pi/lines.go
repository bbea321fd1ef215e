package pi

import (
	"bytes"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// format says how the lines of a record are read. A record is a tree: going back in a session begins a branch, whose lines follow all
// others. What was written last is the present.
var format = transcript.Format{
	Entry:  entry,
	Enough: func(e session.Entry) bool { return e.Report != nil || e.Boundary != nil },
	History: func(line []byte) bool {
		return bytes.Contains(line, []byte(`"toolCall"`)) || bytes.Contains(line, []byte(`"toolResult"`)) || bytes.Contains(line, []byte(`"compaction"`)) ||
			bytes.Contains(line, []byte(`"session_info"`))
	},
}

// line is the raw members of a line that mean something here.
type line struct {
	kind, id, parent, at, message, summary, kept, before, content, name []byte
}

func (l *line) read(data []byte) bool {
	return transcript.Pick(data,
		transcript.Field{Name: "type", Value: &l.kind},
		transcript.Field{Name: "id", Value: &l.id},
		transcript.Field{Name: "parentId", Value: &l.parent},
		transcript.Field{Name: "timestamp", Value: &l.at},
		transcript.Field{Name: "message", Value: &l.message},
		transcript.Field{Name: "summary", Value: &l.summary},
		transcript.Field{Name: "firstKeptEntryId", Value: &l.kept},
		transcript.Field{Name: "tokensBefore", Value: &l.before},
		transcript.Field{Name: "content", Value: &l.content},
		transcript.Field{Name: "name", Value: &l.name})
}

// entry decodes one line.
func entry(data []byte) (e session.Entry, ok bool) {
	var l line
	if !l.read(data) {
		return e, false
	}
	return l.entry()
}

func (l *line) entry() (e session.Entry, ok bool) {
	e.At = transcript.Time(l.at)
	switch transcript.String(l.kind) {
	case "message":
		l.messageOf(&e)
	case "compaction":
		e.Boundary = &session.Boundary{ID: transcript.String(l.id), At: e.At, PreTokens: transcript.Int(l.before), Summary: transcript.String(l.summary)}
	case "custom_message":
		e.Content = texts(l.content, session.InjectedText)
	case "session_info":
		e.Title = transcript.String(l.name)
	}
	return e, e.Report != nil || e.Boundary != nil || e.Title != "" || len(e.Paths)+len(e.Results)+len(e.Content) > 0
}

// messageOf reads a message: of the user, of the model with its usage, or the result of a tool.
func (l *line) messageOf(e *session.Entry) {
	var role, content, model, usage, tool, callID, failed []byte
	transcript.Pick(l.message,
		transcript.Field{Name: "role", Value: &role},
		transcript.Field{Name: "content", Value: &content},
		transcript.Field{Name: "model", Value: &model},
		transcript.Field{Name: "usage", Value: &usage},
		transcript.Field{Name: "toolName", Value: &tool},
		transcript.Field{Name: "toolCallId", Value: &callID},
		transcript.Field{Name: "isError", Value: &failed})
	switch transcript.String(role) {
	case "user":
		e.Content = texts(content, session.PromptText)
	case "toolResult":
		id := transcript.String(callID)
		whole := session.Piece{Class: session.ToolResult, Tool: transcript.String(tool), CallID: id}
		for _, p := range texts(content, session.ToolResult) {
			if p.Class == session.Image {
				e.Content = append(e.Content, p)
			} else {
				whole.Text += p.Text
			}
		}
		e.Content = append([]session.Piece{whole}, e.Content...)
		if id != "" {
			e.Results = []session.CallResult{{CallID: id, Failed: transcript.IsTrue(failed)}}
		}
	case "assistant":
		e.Report = report(usage, e, transcript.String(model), transcript.String(l.id))
		transcript.Elements(content, func(part []byte) bool {
			var kind, text, id, name, arguments, signature []byte
			transcript.Pick(part,
				transcript.Field{Name: "type", Value: &kind},
				transcript.Field{Name: "text", Value: &text},
				transcript.Field{Name: "id", Value: &id},
				transcript.Field{Name: "name", Value: &name},
				transcript.Field{Name: "arguments", Value: &arguments},
				transcript.Field{Name: "thinkingSignature", Value: &signature})
			switch transcript.String(kind) {
			case "text":
				e.Content = append(e.Content, session.Piece{Class: session.AnswerText, Text: transcript.String(text)})
			case "thinking":
				e.Content = append(e.Content, session.Piece{Class: session.Thought, Bytes: len(transcript.String(signature))})
			case "toolCall":
				call := session.Piece{Class: session.ToolCall, Tool: transcript.String(name), CallID: transcript.String(id), Text: string(arguments)}
				transcript.AddCall(e, call, callPaths(call.CallID, call.Tool, arguments, ""))
			}
			return true
		})
	}
}

// report returns the usage of an answer, nil where it states none. pi takes what was read from the cache out of the input.
func report(usage []byte, e *session.Entry, model, id string) *session.Report {
	var input, output, read, write []byte
	transcript.Pick(usage,
		transcript.Field{Name: "input", Value: &input},
		transcript.Field{Name: "output", Value: &output},
		transcript.Field{Name: "cacheRead", Value: &read},
		transcript.Field{Name: "cacheWrite", Value: &write})
	tuple := session.UsageTuple{Input: transcript.Int(input), CacheRead: transcript.Int(read), CacheWrite: transcript.Int(write), Output: transcript.Int(output)}
	if tuple.IsZero() || e.At.IsZero() {
		return nil
	}
	return &session.Report{
		At: e.At, Tuple: tuple, Tokens: tuple.Input + tuple.CacheRead + tuple.CacheWrite + tuple.Output,
		Provenance: session.ProvenanceTranscript, Model: model, MessageID: id,
	}
}

// texts returns the pieces of a string or of an array of parts.
func texts(content []byte, class session.PieceClass) (pieces []session.Piece) {
	if s := transcript.String(content); s != "" {
		return []session.Piece{{Class: class, Text: s}}
	}
	transcript.Elements(content, func(part []byte) bool {
		var kind, text []byte
		transcript.Pick(part, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "text", Value: &text})
		switch s := transcript.String(text); {
		case transcript.String(kind) == "image":
			pieces = append(pieces, session.Piece{Class: session.Image})
		case strings.TrimSpace(s) != "":
			pieces = append(pieces, session.Piece{Class: class, Text: s})
		}
		return true
	})
	return pieces
}

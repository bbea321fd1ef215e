package claudecode

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// line is the raw members of a transcript's line that mean something here.
type line struct {
	kind, subtype, sidechain, apiError, summary, message, errorDetails []byte
	timestamp, uuid, cwd, wireInputs, metadata, title                  []byte
	meta, attachment, rendered, version, requested                     []byte
}

// format returns how the lines of the transcript at path are read. Only the main chain counts; in the file of a sub-agent,
// whose lines are all marked as a side chain, that is the sub-agent's own.
func format(path string) transcript.Format {
	ofAgent := strings.HasPrefix(filepath.Base(path), "agent-")
	return transcript.Format{
		Entry:   func(data []byte) (session.Entry, bool) { return entry(data, ofAgent) },
		Enough:  secondAnswer(),
		History: isHistory,
	}
}

// isHistory reports whether a line may hold paths, a title, the failure of a call or a compaction.
func isHistory(data []byte) bool {
	start := data[:min(len(data), 32)] // a title's line begins with its type
	return bytes.Contains(data, toolUse) || bytes.Contains(data, isError) || bytes.Contains(data, boundaryType) ||
		bytes.Contains(start, titleType) || bytes.Contains(start, summaryType)
}

// secondAnswer returns a function that tells, of entries that come newest first, the first one that is of another answer
// than the last: by then all lines of the last answer have been seen.
func secondAnswer() func(session.Entry) bool {
	var last *session.Report
	return func(e session.Entry) bool {
		if e.Report == nil {
			return false
		}
		if last == nil {
			last = e.Report
		}
		return e.Report.MessageID == "" || e.Report.MessageID != last.MessageID
	}
}

var toolUse, isError, boundaryType, titleType, summaryType = []byte(`"tool_use"`), []byte(`"is_error"`), []byte(`"compact_boundary"`), []byte(`-title"`), []byte(`"summary"`)

// wanted are the types of line that are read to their end.
var wanted = map[string]bool{
	`"assistant"`: true, `"system"`: true, `"user"`: true, `"attachment"`: true, `"ai-title"`: true, `"custom-title"`: true, `"summary"`: true,
}

// entry decodes one line.
func entry(data []byte, ofAgent bool) (session.Entry, bool) {
	var l line
	if !l.scan(data) || transcript.IsTrue(l.sidechain) != ofAgent {
		return session.Entry{}, false
	}
	e := session.Entry{At: transcript.Time(l.timestamp)}
	switch string(l.kind) {
	case `"assistant"`:
		l.assistant(&e)
	case `"user"`:
		// The text that replaced the conversation; merge joins it with its boundary.
		if transcript.IsTrue(l.summary) {
			e.Boundary = &session.Boundary{At: e.At, Summary: l.text()}
		} else {
			l.said(&e)
		}
	case `"attachment"`:
		e.Content = l.attached()
	case `"system"`:
		l.boundary(&e)
	default:
		e.Title = transcript.String(l.title)
	}
	return e, !isEmpty(e)
}

// scan picks the members of a line. It gives up early on lines that are long and say nothing: records of requests name
// their type first.
func (l *line) scan(data []byte) bool {
	ok := transcript.Members(data, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			l.kind = value
			return wanted[string(value)]
		case "attachment":
			l.attachment = value
		case "rendered":
			l.rendered = value
		case "isMeta":
			l.meta = value
		case "subtype":
			l.subtype = value
		case "isSidechain":
			l.sidechain = value
		case "isApiErrorMessage":
			l.apiError = value
		case "isCompactSummary":
			l.summary = value
		case "message":
			l.message = value
		case "errorDetails":
			l.errorDetails = value
		case "timestamp":
			l.timestamp = value
		case "uuid":
			l.uuid = value
		case "version":
			l.version = value
		case "requestedModel":
			l.requested = value
		case "cwd":
			l.cwd = value
		case "wireToolInputs":
			l.wireInputs = value
		case "compactMetadata", "compact_metadata", "microcompactMetadata", "microcompact_metadata":
			l.metadata = value
		case "aiTitle", "customTitle", "summary":
			l.title = value
		}
		return true
	})
	return ok && wanted[string(l.kind)]
}

// assistant reads a line of an answer. The host writes one line for each block of an answer, all with the answer's id and
// usage.
func (l *line) assistant(e *session.Entry) {
	if transcript.IsTrue(l.apiError) {
		e.Limit = limitError(transcript.String(l.errorDetails), l.text())
		return
	}
	var id, model, usage, content, stopReason []byte
	transcript.Pick(l.message,
		transcript.Field{Name: "id", Value: &id},
		transcript.Field{Name: "model", Value: &model},
		transcript.Field{Name: "usage", Value: &usage},
		transcript.Field{Name: "content", Value: &content},
		transcript.Field{Name: "stop_reason", Value: &stopReason})
	name := transcript.String(model)
	if name == "<synthetic>" { // written by the host itself
		return
	}
	tuple, ok := usageTuple(usage)
	if transcript.String(stopReason) == "" {
		tuple.Output = 0 // what is there before the answer's end is a placeholder of 1 to 8 tokens
	}
	if ok && !tuple.IsZero() {
		e.Report = &session.Report{
			At: e.At, Tuple: tuple, Tokens: occupancy(tuple), Provenance: session.ProvenanceTranscript,
			Model: name, MessageID: transcript.String(id), Requested: transcript.String(l.requested),
		}
		e.Version = transcript.String(l.version)
	}
	transcript.Elements(content, func(block []byte) bool {
		l.block(e, block)
		return true
	})
}

// block reads a block of an answer. Whether a call that it makes succeeded stands in a later line.
func (l *line) block(e *session.Entry, block []byte) {
	var kind, text, signature, id, name, input []byte
	transcript.Pick(block,
		transcript.Field{Name: "type", Value: &kind},
		transcript.Field{Name: "text", Value: &text},
		transcript.Field{Name: "signature", Value: &signature},
		transcript.Field{Name: "id", Value: &id},
		transcript.Field{Name: "name", Value: &name},
		transcript.Field{Name: "input", Value: &input})
	switch transcript.String(kind) {
	case "text":
		e.Content = append(e.Content, session.Piece{Class: session.AnswerText, Text: transcript.String(text)})
	case "thinking":
		e.Content = append(e.Content, session.Piece{Class: session.Thought, Bytes: max(0, len(signature)-len(`""`))})
	case "tool_use":
		call := session.Piece{Class: session.ToolCall, Tool: transcript.String(name), CallID: transcript.String(id)}
		// What the model really wrote, where the host changed it before running it.
		transcript.Pick(l.wireInputs, transcript.Field{Name: call.CallID, Value: &input})
		if call.Tool != exitPlan {
			call.Text = string(input)
		}
		transcript.AddCall(e, call, toolPaths(call.Tool, input, transcript.String(l.cwd)))
	}
}

// boundary reads the line that marks a compaction. Files spell its figures in camel case, the host's live stream in snake
// case.
func (l *line) boundary(e *session.Entry) {
	subtype := transcript.String(l.subtype)
	if subtype != "compact_boundary" && subtype != "microcompact_boundary" {
		return
	}
	b := &session.Boundary{ID: transcript.String(l.uuid), At: e.At, Micro: subtype == "microcompact_boundary"}
	e.Version = transcript.String(l.version)
	transcript.Members(l.metadata, func(key, value []byte) bool {
		switch string(key) {
		case "trigger":
			b.Automatic = transcript.String(value) == "auto"
		case "preTokens", "pre_tokens":
			b.PreTokens = transcript.Int(value)
		case "postTokens", "post_tokens":
			b.PostTokens, b.Messages = transcript.Int(value), true
		case "compactedToolIds", "compacted_tool_ids":
			transcript.Elements(value, func(id []byte) bool {
				b.Cleared = append(b.Cleared, transcript.String(id))
				return true
			})
		}
		return true
	})
	e.Boundary = b
}

// text returns the text of a line's message, whose content is a string or blocks.
func (l *line) text() string {
	var content []byte
	transcript.Pick(l.message, transcript.Field{Name: "content", Value: &content})
	if s := transcript.String(content); s != "" {
		return s
	}
	var texts []string
	transcript.Elements(content, func(block []byte) bool {
		var text []byte
		transcript.Pick(block, transcript.Field{Name: "text", Value: &text})
		if s := transcript.String(text); s != "" {
			texts = append(texts, s)
		}
		return true
	})
	return strings.Join(texts, "\n")
}

// merge joins a compaction with the summary that follows it. A summary whose boundary is not among the entries is dropped:
// the boundary was read before, and the PostCompact event carries the same text.
func merge(entries []session.Entry) []session.Entry {
	var boundary *session.Boundary // the last one, while it has no summary
	for i := range entries {
		e := &entries[i]
		switch {
		case isSummary(e.Boundary):
			if boundary != nil {
				boundary.Summary = e.Boundary.Summary
			}
			e.Boundary, boundary = nil, nil
		case e.Boundary != nil && !e.Boundary.Micro:
			boundary = e.Boundary
		}
	}
	return slices.DeleteFunc(entries, isEmpty)
}

// isSummary tells the text of a summary from a boundary, which always has an id.
func isSummary(b *session.Boundary) bool { return b != nil && b.ID == "" && b.Summary != "" }

func isEmpty(e session.Entry) bool {
	return e.Report == nil && e.Boundary == nil && e.Limit == nil && e.Turn == nil && e.Title == "" && len(e.Paths)+len(e.Results)+len(e.Content) == 0
}

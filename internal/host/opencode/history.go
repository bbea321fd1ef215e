package opencode

import (
	"context"
	"slices"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// History implements core.Historian. The database keeps every message; the newest are read.
func (r Records) History(ctx context.Context, rec core.Record, _ bool, visit func(session.Entry) bool) error {
	messages, err := r.messages(ctx, rec.SessionID)
	for _, m := range slices.Backward(messages) {
		if !visit(pastEntry(m)) {
			break
		}
	}
	return err
}

// pastEntry returns what the event of a message says. Every part of an answer has its results beside it. The place of a message is its time.
func pastEntry(m session.Event) session.Entry {
	e := session.Entry{Offset: m.At.UnixMilli(), At: m.At, Content: m.Content, Paths: m.Paths, Results: m.Results}
	if len(m.Reports) > 0 {
		e.Report = &m.Reports[0]
	}
	if b := m.CompactedBy; b != nil {
		e.Boundary = &session.Boundary{ID: "summary", At: b.At, Summary: b.Summary}
	}
	if m.Machine {
		for i := range e.Content {
			if e.Content[i].Class == session.PromptText {
				e.Content[i].Class = session.InjectedText
			}
		}
	}
	return e
}

// partResults returns the calls of a message that failed: those with an error, and commands that ended with a status other than 0.
func partResults(parts []byte) (results []session.CallResult) {
	transcript.Elements(parts, func(data []byte) bool {
		var p part
		p.read(data)
		var status, metadata, exit []byte
		transcript.Pick(p.state, transcript.Field{Name: "status", Value: &status}, transcript.Field{Name: "metadata", Value: &metadata})
		transcript.Pick(metadata, transcript.Field{Name: "exit", Value: &exit})
		if transcript.String(status) == "error" || len(exit) > 0 && string(exit) != "0" && string(exit) != "null" {
			results = append(results, result(p.callID, true)...)
		}
		return true
	})
	return results
}

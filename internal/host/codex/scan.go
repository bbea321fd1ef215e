package codex

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Scan visits what the window holds by the rollout at path: all since the last compaction, and the history that it put in
// place of what was before.
func (*Adapter) Scan(ctx context.Context, path string, progress func(done, total int64), visit func(session.Entry) bool) error {
	of := format(path)
	s := scan{visit: visit, going: true}
	err := transcript.Scan(ctx, path, transcript.Format{Entry: func(data []byte) (session.Entry, bool) {
		e, ok := of.Entry(data)
		if e.Boundary != nil {
			e.Content = replacement(data)
		}
		return e, ok
	}}, progress, s.take)
	s.release()
	return err
}

// scan puts reports before the answers that they are of. The host writes what the model said and called first, then how
// much that was, then the results of the calls, and then once more how much it was; older versions do only the latter.
type scan struct {
	visit func(session.Entry) bool
	going bool
	held  *session.Report // of the answer that is still to come, newest first
	late  bool            // results may come before it
}

// take takes the next entry, newest first, and reports whether to go on.
func (s *scan) take(e session.Entry) bool {
	if e.Report != nil {
		if rep := e.Report; !rep.Tuple.IsZero() { // else the host's own estimate, of which there is nothing to tell
			if s.held != nil && s.held.Tuple != rep.Tuple {
				s.release()
			}
			s.held, s.late = rep, rep.Late
		}
		e.Report = nil
	}
	if e.Boundary != nil {
		s.held = nil // the request that made the summary
		s.visit(session.Entry{At: e.At, Content: e.Content})
		return false
	}
	if len(e.Content) > 0 && s.held != nil && !s.goesOn(e.Content) {
		s.release()
	}
	if len(e.Content) > 0 && s.going {
		s.going = s.visit(session.Entry{At: e.At, Content: e.Content})
	}
	return s.going
}

// goesOn reports whether content may be a part of the held report's answer, or lie between the two.
func (s *scan) goesOn(content []session.Piece) bool {
	for _, p := range content {
		switch p.Class {
		case session.AnswerText, session.ToolCall, session.Thought:
			s.late = false
		case session.ToolResult, session.InjectedText:
			if !s.late {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// release visits the held report, which stands before all of its answer now.
func (s *scan) release() {
	if s.held != nil && s.going {
		s.going = s.visit(session.Entry{At: s.held.At, Report: s.held})
	}
	s.held = nil
}

// replacement returns the history that a compaction put in place of the conversation; its summary is the last message.
func replacement(data []byte) []session.Piece {
	var payload, message, history []byte
	transcript.Pick(data, transcript.Field{Name: "payload", Value: &payload})
	transcript.Pick(payload, transcript.Field{Name: "message", Value: &message}, transcript.Field{Name: "replacement_history", Value: &history})
	summary := transcript.String(message)
	var pieces []session.Piece
	transcript.Elements(history, func(element []byte) bool {
		for _, p := range item(element) {
			if p.Text == summary && summary != "" {
				p.Class = session.SummaryText
			}
			pieces = append(pieces, p)
		}
		return true
	})
	return pieces
}

package qwen

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Scan visits what the window holds by the record at path: the messages back to the last compaction, and those that the host wrote
// down as what it left.
func (Adapter) Scan(ctx context.Context, path string, progress func(done, total int64), visit func(session.Entry) bool) error {
	s := scan{visit: visit, ofAgent: strings.HasPrefix(filepath.Base(path), "agent-")}
	return transcript.Scan(ctx, path, transcript.Format{Entry: s.line}, progress, func(session.Entry) bool { return !s.over })
}

// scan takes lines newest first.
type scan struct {
	visit   func(session.Entry) bool
	ofAgent bool
	over    bool
}

// line takes one line. Its entries are visited here, since that of a compaction holds many; what it returns only has the scan ask
// whether it is over.
func (s *scan) line(data []byte) (session.Entry, bool) {
	e, ok := entry(data, s.ofAgent)
	switch {
	case s.over || !ok:
	case e.Boundary != nil:
		s.left(data)
		s.over = true
	case e.Report != nil || len(e.Content) > 0:
		s.over = !s.visit(session.Entry{At: e.At, Report: e.Report, Content: e.Content})
	}
	return session.Entry{}, s.over
}

// left visits the messages that a compaction left, of which the first is the summary.
func (s *scan) left(data []byte) {
	var system, history []byte
	transcript.Pick(data, transcript.Field{Name: "systemPayload", Value: &system})
	transcript.Pick(system, transcript.Field{Name: "compressedHistory", Value: &history})
	var messages [][]session.Piece
	transcript.Elements(history, func(message []byte) bool {
		messages = append(messages, pieces(message))
		return true
	})
	for i, content := range slices.Backward(messages) {
		for j := range content {
			if p := &content[j]; p.Class == session.PromptText && i == 0 {
				p.Class = session.SummaryText
			} else if p.Class == session.PromptText {
				p.Class = session.InjectedText
			}
		}
		if len(content) > 0 && !s.visit(session.Entry{Content: content}) {
			return
		}
	}
}

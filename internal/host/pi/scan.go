package pi

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Scan visits what the window holds by the record at path: the messages of the newest branch back to its last compaction, its
// summary, and the messages before it that it kept.
func (Adapter) Scan(ctx context.Context, path string, progress func(done, total int64), visit func(session.Entry) bool) error {
	s := scan{visit: visit}
	return transcript.Scan(ctx, path, transcript.Format{Entry: s.line}, progress, func(session.Entry) bool { return !s.over })
}

// scan takes lines newest first, each of which names the line before it in its branch.
type scan struct {
	visit     func(session.Entry) bool
	begun     bool
	next      string // the id of the next line of the branch
	compacted bool   // a compaction was met: from here on only what it kept counts, up to the line kept
	kept      string
	over      bool
}

// line takes one line; what it returns only has the scan ask whether it is over.
func (s *scan) line(data []byte) (session.Entry, bool) {
	var l line
	if s.over || !l.read(data) {
		return session.Entry{}, s.over
	}
	id := transcript.String(l.id)
	if id == "" || l.parent == nil || s.begun && id != s.next {
		return session.Entry{}, false
	}
	s.begun, s.next = true, transcript.String(l.parent)
	e, ok := l.entry()
	switch {
	case e.Boundary != nil && s.compacted: // an older one
		s.over = true
	case e.Boundary != nil:
		s.compacted, s.kept = true, transcript.String(l.kept)
		e = session.Entry{At: e.At, Content: []session.Piece{{Class: session.SummaryText, Text: e.Boundary.Summary}}}
		s.over = !s.visit(e) || s.kept == ""
	case ok && (e.Report != nil || len(e.Content) > 0):
		e = session.Entry{At: e.At, Report: e.Report, Content: e.Content}
		if s.compacted {
			e.Report = nil // of a window that is gone
		}
		if e.Report != nil || len(e.Content) > 0 {
			s.over = !s.visit(e)
		}
	}
	s.over = s.over || s.next == "" || s.compacted && id == s.kept
	return session.Entry{}, s.over
}

package claudecode

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Scan visits what the window holds by the transcript at path: all since the last compaction, and the messages from before
// it that its boundary names as kept.
func (*Adapter) Scan(ctx context.Context, path string, progress func(done, total int64), visit func(session.Entry) bool) error {
	s := scan{ofAgent: strings.HasPrefix(filepath.Base(path), "agent-")}
	return transcript.Scan(ctx, path, transcript.Format{Entry: s.entry}, progress, func(e session.Entry) bool {
		return (isEmpty(e) || visit(e)) && !s.over()
	})
}

// scan decodes lines newest first.
type scan struct {
	ofAgent bool
	kept    map[string]bool // once the last compaction was met: the ids of kept messages that are still to come
}

// entry decodes one line. What is over is told by an entry too, since Format.Entry cannot end the scan.
func (s *scan) entry(data []byte) (session.Entry, bool) {
	e, ok := entry(data, s.ofAgent)
	switch {
	case s.kept != nil:
		var uuid []byte
		transcript.Pick(data, transcript.Field{Name: "uuid", Value: &uuid})
		id := transcript.String(uuid)
		kept := s.kept[id]
		delete(s.kept, id)
		return session.Entry{At: e.At, Content: e.Content}, kept
	case !ok:
		return e, false
	case isSummary(e.Boundary):
		e.Content, e.Boundary = []session.Piece{{Class: session.SummaryText, Text: e.Boundary.Summary}}, nil
	case e.Boundary != nil && !e.Boundary.Micro:
		s.kept = keptMessages(data)
		e = session.Entry{}
	}
	return e, true
}

func (s *scan) over() bool { return s.kept != nil && len(s.kept) == 0 }

// keptMessages returns the ids of the messages that a compaction kept as they were.
func keptMessages(data []byte) map[string]bool {
	var metadata, preserved, ids, all []byte
	transcript.Pick(data, transcript.Field{Name: "compactMetadata", Value: &metadata})
	transcript.Pick(metadata, transcript.Field{Name: "preservedMessages", Value: &preserved})
	transcript.Pick(preserved, transcript.Field{Name: "uuids", Value: &ids}, transcript.Field{Name: "allUuids", Value: &all})
	kept := map[string]bool{}
	for _, list := range [][]byte{ids, all} {
		transcript.Elements(list, func(id []byte) bool {
			kept[transcript.String(id)] = true
			return true
		})
	}
	return kept
}

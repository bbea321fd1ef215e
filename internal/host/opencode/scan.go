package opencode

import (
	"context"
	"io/fs"
	"slices"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Bounds of a scan: a window has fewer messages, and parts of more bytes are images.
const (
	maxScanned    = 20_000
	scanPartBytes = 1 << 20
)

// ScanRecord implements core.RecordScanner. As the host does, it takes the messages since the request for the last compaction, and the
// turns before it that the compaction kept: its part "compaction" names the first of these.
func (r Records) ScanRecord(ctx context.Context, rec core.Record, progress func(done, total int64), visit func(session.Entry) bool) error {
	all, err := r.rows(ctx, rec.SessionID, maxScanned)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fs.ErrNotExist
	}
	// all is newest first: the messages since the summary, the summary, its request, and the turns that were kept.
	end := slices.IndexFunc(all, func(m row) bool { return m.isSummary() })
	first, request := len(all)-1, -1
	if end >= 0 {
		var parent []byte
		transcript.Pick([]byte(all[end].data), transcript.Field{Name: "parentID", Value: &parent})
		first = end
		if request = slices.IndexFunc(all, func(m row) bool { return m.id == transcript.String(parent) }); request > end {
			first = request
			if kept, err := r.keptFrom(ctx, rec.SessionID, all[request].id); err != nil {
				return err
			} else if i := slices.IndexFunc(all, func(m row) bool { return m.id == kept }); i > request {
				first = i
			}
		}
	}
	parts, err := r.parts(ctx, rec.SessionID, all[first].id, scanPartBytes)
	if err != nil {
		return err
	}
	total := 0
	for _, m := range all[:first+1] {
		total += len(m.data) + len(parts[m.id])
	}
	done := 0
	for i, m := range all[:first+1] {
		done += len(m.data) + len(parts[m.id])
		progress(int64(done), int64(total))
		ev, ok := recorded(rec.SessionID, m.id, []byte(m.data), parts[m.id])
		if !ok || i == request {
			continue
		}
		e := pastEntry(ev)
		switch {
		case i == end:
			e = session.Entry{At: e.At, Content: []session.Piece{{Class: session.SummaryText, Text: e.Boundary.Summary}}}
		case e.Boundary != nil: // an older summary
			continue
		case end >= 0 && i > end:
			e.Report = nil // of the window before
		}
		if cleared := clearedCalls(parts[m.id]); len(cleared) > 0 && !visit(session.Entry{At: e.At, Boundary: &session.Boundary{Micro: true, Cleared: cleared}}) {
			return nil
		}
		if !visit(e) {
			return nil
		}
	}
	return ctx.Err()
}

// isSummary reports whether the message is the summary of a compaction that succeeded.
func (m row) isSummary() bool {
	var info message
	info.read([]byte(m.data))
	return info.isSummary() && len(info.failure) == 0 && !info.completed().IsZero()
}

// keptFrom returns the first message that a compaction kept as it was, "" if it kept none. request is the message that asked for it.
func (r Records) keptFrom(ctx context.Context, id, request string) (kept string, err error) {
	parts, err := r.parts(ctx, id, request, partBytes)
	transcript.Elements(parts[request], func(part []byte) bool {
		var kind, from []byte
		transcript.Pick(part, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "tail_start_id", Value: &from})
		if transcript.String(kind) == "compaction" {
			kept = transcript.String(from)
		}
		return true
	})
	return kept, err
}

// clearedCalls returns the calls of a message whose results the host has cleared.
func clearedCalls(parts []byte) (ids []string) {
	transcript.Elements(parts, func(data []byte) bool {
		var p part
		p.read(data)
		var times, compacted []byte
		transcript.Pick(p.state, transcript.Field{Name: "time", Value: &times})
		transcript.Pick(times, transcript.Field{Name: "compacted", Value: &compacted})
		if id := transcript.String(p.callID); len(compacted) > 0 && string(compacted) != "null" && id != "" {
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

// Package transcript reads the line-by-line JSON files in which hosts record a conversation. It knows no host: a Format interprets the
// lines. It guarantees the cost: for a file of any size, a read takes a bounded number of bytes, bounded memory, and never blocks.
// Anything but a regular file counts as no data.
package transcript

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Format interprets the lines of a host's transcripts. A line comes without its line ending and is only valid during the call.
type Format struct {
	// Entry returns the content of a line without its offset, and false if there is none. Malformed lines have none.
	Entry func(line []byte) (session.Entry, bool)
	// Enough reports whether the gauge needs nothing before this entry. Usually the entry is a usage report.
	Enough func(session.Entry) bool
	// History is a quick test of a line before that entry: whether it may contain paths, a title, the failure of a call or a compaction.
	// These are what ctxls wants from the past when it first sees a session.
	History func(line []byte) bool
	// Turns is the number of turns before the end from which a first read takes more reports and compactions than Enough asks for. 0 is
	// none: the host reported the turns to hooks.
	Turns int
	// Brief, if set, decodes the lines of these turns except the last: reports, compactions, turns and the title. A first read then ends
	// with them, and BriefBytes before the end at the latest.
	Brief func(line []byte) (session.Entry, bool)
}

// Bounds of one read, in bytes.
const (
	// PieceBytes is the size of one read operation: a few lines of a usual transcript, whose 99th percentile is 51 KB.
	PieceBytes = 256 << 10
	// LineBytes is the longest line that is read. Longer lines are skipped. They are tool results and attachments, since no answer of a
	// model is nearly as long.
	LineBytes = 4 << 20
	// ReachBytes bounds one read, and the distance from the end at which a first read stops.
	ReachBytes = 16 << 20
	// BriefBytes is the distance from the end at which a brief read stops if it has the gauge: nine turns of usual length. A list of 20
	// sessions then reads at most 40 MB.
	BriefBytes = 2 << 20
)

// bounds are the constants above; tests use smaller ones.
type bounds struct{ piece, line, reach int64 }

// Read returns the content of the transcript at path from the cursor on.
//
// The zero cursor asks for a first read. It reads from the end back to the last entry that is Enough, and then on within ReachBytes for
// earlier paths and the title. Otherwise Read reads forward from the cursor. If the cursor is too far from the end, or the file was
// replaced, cut or rewritten before the cursor, it reads back from the end instead. Restarted reports the latter.
//
// A last line without line ending is still being written: the cursor stays at its first byte. If there is no usable file, the reading is
// empty, its cursor is the given one, and the error gives the reason.
func Read(ctx context.Context, path string, from session.Cursor, format Format) (session.Reading, error) {
	return read(ctx, path, from, format, bounds{PieceBytes, LineBytes, ReachBytes})
}

func read(ctx context.Context, path string, from session.Cursor, format Format, b bounds) (session.Reading, error) {
	nothing := session.Reading{From: from.Offset, Cursor: from}
	f, err := open(path, b)
	if err != nil {
		return nothing, err
	}
	defer f.close()

	first := from == session.Cursor{}
	known := !first && from.SameFile(f.id) && from.Offset <= f.size && f.startsLine(from.Offset)
	reading := session.Reading{Cursor: f.id, Restarted: !first && !known}
	if known && f.size-from.Offset <= b.reach {
		reading.From = from.Offset
		next, err := f.forward(ctx, from.Offset, func(offset int64, line []byte) bool {
			if entry, ok := format.Entry(line); ok {
				entry.Offset = offset
				reading.Entries = append(reading.Entries, entry)
			}
			return true
		})
		if err != nil {
			return nothing, err
		}
		reading.Cursor.Offset = next
		return reading, nil
	}

	back := tail{format: format, history: first && format.Brief == nil}
	if format.Brief != nil {
		back.floor = f.size - BriefBytes
	}
	start, next, err := f.backward(ctx, back.line)
	if err != nil && back.stage == fresh {
		return nothing, err
	}
	reading.From, reading.Cursor.Offset, reading.Entries = start, next, back.inOrder()
	return reading, nil
}

// Scan visits the entries of the transcript at path, newest first, until visit returns false. Unlike Read, it has no bound. progress
// gets the number of bytes read and of all bytes.
func Scan(ctx context.Context, path string, format Format, progress func(done, total int64), visit func(session.Entry) bool) error {
	return scan(ctx, path, 0, format, progress, visit)
}

// Back is Scan for at most ReachBytes from the end.
func Back(ctx context.Context, path string, format Format, visit func(session.Entry) bool) error {
	return scan(ctx, path, ReachBytes, format, func(int64, int64) {}, visit)
}

// scan reads reach bytes from the end; 0 is all.
func scan(ctx context.Context, path string, reach int64, format Format, progress func(done, total int64), visit func(session.Entry) bool) error {
	f, err := open(path, bounds{piece: PieceBytes, line: LineBytes, reach: reach})
	if err != nil {
		return err
	}
	defer f.close()
	if reach == 0 {
		f.b.reach = f.size
	}
	_, _, err = f.backward(ctx, func(offset int64, line []byte) bool {
		progress(f.size-offset, f.size)
		entry, ok := format.Entry(line)
		if !ok {
			return true
		}
		entry.Offset = offset
		return visit(entry)
	})
	return err
}

// tail collects entries from lines that come newest first. The older a line is, the less of it is needed.
type tail struct {
	format  Format
	history bool  // continues for paths and the title once the gauge has enough
	floor   int64 // the offset before which nothing is read once the gauge has enough
	stage   stage
	turns   int // that began in the recent stage
	entries []session.Entry
	titled  bool
	seen    map[string]session.Use
	failed  map[string]bool // calls, whose results come before them
}

// stage says which parts of a line a tail needs.
type stage int

const (
	fresh  stage = iota // everything
	recent              // all except the content, of the last Format.Turns turns
	past                // paths and the title
)

// line handles one line and reports whether to continue.
func (t *tail) line(offset int64, line []byte) bool {
	if t.stage != fresh && offset < t.floor {
		return false
	}
	if t.stage == past && !t.format.History(line) {
		return true
	}
	decode := t.format.Entry
	if t.stage == recent && t.format.Brief != nil {
		decode = t.format.Brief
	}
	entry, ok := decode(line)
	if !ok {
		return true
	}
	entry.Offset = offset
	for _, result := range entry.Results {
		if result.Failed {
			if t.failed == nil {
				t.failed = make(map[string]bool)
			}
			t.failed[result.CallID] = true
		}
	}
	if t.stage != fresh && !t.older(&entry) {
		return true
	}
	t.titled = t.titled || entry.Title != ""
	t.entries = append(t.entries, entry)
	t.age(entry)
	return t.stage != past || t.history && len(t.seen) < session.MaxWorkingSet
}

// age moves on to the next stage when an entry completes the current one.
func (t *tail) age(entry session.Entry) {
	if t.stage == fresh && t.format.Enough(entry) {
		t.stage = recent
	}
	if t.stage == recent {
		if entry.Turn != nil {
			t.turns++
		}
		if t.turns >= t.format.Turns || entry.Boundary != nil && !entry.Boundary.Micro {
			t.stage = past
		}
	}
}

// older removes from an entry what only counts in newer stages, paths that were used since at least as heavily, and paths of failed
// calls. It reports whether anything is left.
func (t *tail) older(entry *session.Entry) bool {
	if t.seen == nil {
		t.seen = make(map[string]session.Use)
	}
	entry.Content, entry.Results = nil, nil
	if t.stage == past {
		entry.Report, entry.Limit, entry.Limits, entry.Turn = nil, nil, model.Limits{}, nil
		if b := entry.Boundary; b != nil && (b.Micro || b.ID == "") {
			entry.Boundary = nil
		}
		entry.Earlier = entry.Boundary != nil
	}
	if t.titled {
		entry.Title = ""
	}
	paths := entry.Paths[:0]
	for _, p := range entry.Paths {
		if !t.failed[p.CallID] && t.seen[p.Path] < p.Use {
			t.seen[p.Path], p.CallID = p.Use, ""
			paths = append(paths, p)
		}
	}
	entry.Paths = paths
	return entry.Title != "" || len(paths) > 0 || entry.Report != nil || entry.Boundary != nil || entry.Limit != nil || entry.Turn != nil
}

// inOrder returns the entries in file order.
func (t *tail) inOrder() []session.Entry {
	for i, j := 0, len(t.entries)-1; i < j; i, j = i+1, j-1 {
		t.entries[i], t.entries[j] = t.entries[j], t.entries[i]
	}
	return t.entries
}

// Package transcript reads the line-by-line JSON files in which hosts record a conversation. It knows no host: a Format
// says what a line means. What it guarantees is cost: however large the file, a read takes a bounded number of bytes, a
// bounded amount of memory and never blocks, and what is no regular file counts as no data.
package transcript

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Format is what a host knows of the lines in its transcripts. A line comes without its line ending and is only valid
// during the call.
type Format struct {
	// Entry returns what a line says, without its offset; false where it says nothing. Malformed lines say nothing.
	Entry func(line []byte) (session.Entry, bool)
	// Enough reports whether nothing before this entry matters to the gauge: usually that it is a usage report.
	Enough func(session.Entry) bool
	// History is a quick look at a line from before that entry: whether it may hold paths, a title, the failure of a call or a
	// compaction: what is wanted of the past when ctxls first meets a session.
	History func(line []byte) bool
	// Turns is how many turns before the end a first sight takes reports and compactions from, beyond those that Enough asks
	// for. 0 is none: a hook was told of the turns by the host.
	Turns int
	// Brief, where it is set, decodes what is wanted of the lines of these turns but the last: reports, compactions, turns and
	// the title. A first sight then ends with them.
	Brief func(line []byte) (session.Entry, bool)
}

// Bounds of one read, in bytes.
const (
	// PieceBytes is how much is read at a time: a few lines of a usual transcript, whose 99th percentile is 51 KB.
	PieceBytes = 256 << 10
	// LineBytes is the longest line that is looked at. Longer ones are stepped over: they are tool results and attachments,
	// since no answer of a model comes near it.
	LineBytes = 4 << 20
	// ReachBytes is the most that one read takes in, and how far back the first one goes.
	ReachBytes = 16 << 20
)

// bounds are the constants above, which tests make small.
type bounds struct{ piece, line, reach int64 }

// Read returns what the transcript at path holds from the cursor on.
//
// The zero cursor is a first sight: it reads from the end back to the last entry that is Enough, and on for as long as
// ReachBytes allow for the paths and the title of what lies before. Otherwise it reads forward from the cursor. Where that
// is too far from the end it goes back from the end instead; so too where the file is not what the cursor saw (replaced,
// cut, or rewritten below the cursor), which Restarted then says.
//
// A last line without line ending is still being written: the cursor stays at its first byte. Where there is no usable
// file the reading is empty, its cursor the one that was given, and the error says why.
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
	start, next, err := f.backward(ctx, back.line)
	if err != nil && back.stage == fresh {
		return nothing, err
	}
	reading.From, reading.Cursor.Offset, reading.Entries = start, next, back.inOrder()
	return reading, nil
}

// Scan visits the entries of the transcript at path, newest first, until visit returns false: unlike Read as far back as it
// takes. progress is told how many bytes have been read and how many there are.
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

// tail collects entries while lines come newest first. It wants less of a line the older the line is.
type tail struct {
	format  Format
	history bool // go on for paths and title once the gauge has enough
	stage   stage
	turns   int // that began in the recent stage
	entries []session.Entry
	titled  bool
	seen    map[string]session.Use
	failed  map[string]bool // calls; their results come before them
}

// stage says what a tail wants of a line.
type stage int

const (
	fresh  stage = iota // everything
	recent              // all but the content, of the last Format.Turns turns
	past                // paths and the title
)

// line takes one line and reports whether to go on.
func (t *tail) line(offset int64, line []byte) bool {
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

// age moves on to the next stage once an entry completes what the stage is for.
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

// older strips an entry of what only matters when it is newer than the stage of the tail, of paths that came up since with no
// lighter a use, and of those of calls that failed. It reports whether anything is left.
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

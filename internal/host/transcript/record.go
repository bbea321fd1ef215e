package transcript

import (
	"context"
	"slices"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// recordTurns is the number of turns that a list reads back: the forecast uses the last eight, and needs the start of the first.
const recordTurns = 9

// ReadRecord reads the end of a session's record with its turns. turn returns the turn that a line begins, or nil. A brief reading uses
// Format.Brief, or f.Entry if it is not set.
func ReadRecord(ctx context.Context, path string, f Format, turn func(line []byte) *session.Turn, brief bool) (session.Reading, error) {
	entry := f.Entry
	f.Turns = recordTurns
	f.Entry = func(line []byte) (session.Entry, bool) {
		e, ok := entry(line)
		e.Turn = turn(line)
		return e, ok || e.Turn != nil
	}
	switch {
	case !brief:
		f.Brief = nil
	case f.Brief == nil:
		f.Brief = f.Entry
	}
	return Read(ctx, path, session.Cursor{}, f)
}

// Events returns the two events of a record: one at the start of its session, and one with the content of its end.
func Events(rec core.Record, began time.Time, cwd string, reading session.Reading) []session.Event {
	first := session.Event{Host: rec.Host, SessionID: rec.SessionID, Kind: session.RecordRead, Name: "record", At: began, CWD: cwd}
	last := first
	last.At, last.Transcript, last.Reading = rec.ModTime, rec.Path, &reading
	return []session.Event{first, last}
}

// Record returns the session record in the file.
func (f File) Record(host session.Host, id string) core.Record {
	return core.Record{Key: session.Key{Host: host, SessionID: id}, Path: f.Path, ModTime: f.ModTime, Size: f.Size}
}

// Records returns the records in files that match pattern below the directories and changed at or after since, newest first; see Find.
// record returns the record of one file.
func Records(ctx context.Context, dirs []string, pattern string, since time.Time, record func(File) (core.Record, bool)) ([]core.Record, error) {
	var records []core.Record
	for _, dir := range dirs {
		files, err := Find(ctx, dir, pattern, since)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if rec, ok := record(f); ok {
				records = append(records, rec)
			}
		}
	}
	slices.SortStableFunc(records, func(a, b core.Record) int { return b.ModTime.Compare(a.ModTime) })
	return records, nil
}

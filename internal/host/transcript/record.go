package transcript

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
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

// Files are the records of a host that writes a file for each session below one directory. It implements the part of core.Recorder that
// needs no content.
type Files struct {
	Name    session.Host
	Root    string
	Pattern string                         // of the files, relative to Root; see Find
	Of      func(File) (core.Record, bool) // the record of one file
}

// Host implements core.Recorder.
func (r Files) Host() session.Host { return r.Name }

// Dirs implements core.Recorder.
func (r Files) Dirs() []string { return []string{r.Root} }

// Find implements core.Recorder.
func (r Files) Find(ctx context.Context, since time.Time) ([]core.Record, error) {
	return Records(ctx, r.Dirs(), r.Pattern, since, r.Of)
}

// At implements core.Recorder.
func (r Files) At(path string) (core.Record, bool) {
	if ok, _ := filepath.Match(filepath.Join(r.Root, filepath.FromSlash(r.Pattern)), path); !ok {
		return core.Record{}, false
	}
	return r.Of(Stat(path))
}

// AgentFile is what a host writes of a sub-agent beside its record.
type AgentFile struct {
	AgentType string `json:"agentType"`
	Model     string `json:"model"`
	Finished  bool   `json:"finished"`
	Status    string `json:"status"`
}

// maxAgentFile bounds the size, in bytes, of an AgentFile. Those of Claude Code 2.1.329 and Qwen Code 0.24.4 have less than 1,000.
const maxAgentFile = 64 << 10

// Agents returns an event for each of the sub-agents that were active last, oldest first. Their records match pattern below dir, and are
// named agent-ID.jsonl; read reads one. ended reports whether a sub-agent has ended.
func Agents(ctx context.Context, rec core.Record, dir, pattern string, read func(path string) (session.Reading, error), ended func(AgentFile) bool) ([]session.Event, error) {
	files, err := Find(ctx, dir, pattern, time.Time{})
	if err != nil {
		return nil, err
	}
	var events []session.Event
	for _, f := range slices.Backward(files[:min(len(files), session.MaxAgents)]) {
		reading, err := read(f.Path)
		if err != nil {
			continue
		}
		name := strings.TrimSuffix(f.Path, ".jsonl")
		var meta AgentFile
		if data, err := Head(name+".meta.json", maxAgentFile); err == nil {
			_ = json.Unmarshal(data, &meta) // without a type where it cannot be read
		}
		ev := session.Event{
			Host: rec.Host, SessionID: rec.SessionID, Kind: session.AgentStarted, Name: "record", At: f.ModTime,
			AgentID: strings.TrimPrefix(filepath.Base(name), "agent-"), AgentType: meta.AgentType, Model: meta.Model, AgentTranscript: f.Path, Reading: &reading,
		}
		if ended(meta) {
			ev.Kind = session.AgentFinished
		}
		events = append(events, ev)
	}
	return events, nil
}

// AddCall adds a call of a tool to an entry, with the files that it uses.
func AddCall(e *session.Entry, call session.Piece, uses []session.PathUse) {
	if len(uses) == 1 && uses[0].Use > session.Mentioned {
		call.Path = uses[0].Path
	}
	for _, use := range uses {
		use.At, use.CallID = e.At, call.CallID
		e.Paths = append(e.Paths, use)
	}
	e.Content = append(e.Content, call)
}

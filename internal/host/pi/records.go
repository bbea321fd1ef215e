package pi

import (
	"bytes"
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Records finds the sessions that pi keeps on the disk. It implements core.Recorder.
type Records struct {
	transcript.Files
	dir string // pi's, with models.json
}

// NewRecords returns the records of a user: in PI_CODING_AGENT_SESSION_DIR where that is set, else below pi's directory.
func NewRecords(env host.Env) Records {
	root := cmp.Or(env.Getenv("PI_CODING_AGENT_SESSION_DIR"), filepath.Join(dir(env), "sessions"))
	return Records{transcript.Files{Name: Name, Root: root, Pattern: "*/*.jsonl", Of: record}, dir(env)}
}

// record returns the record that a file is: its name ends in the session's id.
func record(f transcript.File) (core.Record, bool) {
	name, ok := strings.CutSuffix(filepath.Base(f.Path), ".jsonl")
	_, id, named := strings.Cut(name, "_")
	return f.Record(Name, id), ok && named && id != ""
}

// headBytes bounds the first line of a record, in bytes. That of version 0.73.1 has 200.
const headBytes = 8 << 10

// head returns what the first line of a record says; no id where it is none of pi's.
func head(path string) (id, cwd string, began time.Time) {
	data, err := transcript.Head(path, headBytes)
	if err != nil {
		return "", "", time.Time{}
	}
	first, _, _ := bytes.Cut(data, []byte{'\n'})
	var kind, rawID, at, dir []byte
	transcript.Pick(first,
		transcript.Field{Name: "type", Value: &kind},
		transcript.Field{Name: "id", Value: &rawID},
		transcript.Field{Name: "timestamp", Value: &at},
		transcript.Field{Name: "cwd", Value: &dir})
	if transcript.String(kind) != "session" {
		return "", "", time.Time{}
	}
	return transcript.String(rawID), transcript.String(dir), transcript.Time(at)
}

// Read implements core.Recorder.
func (r Records) Read(ctx context.Context, rec core.Record, brief bool) ([]session.Event, error) {
	models, provider := readModels(r.dir), ""
	stated := format
	stated.Entry = func(line []byte) (session.Entry, bool) {
		e, by, ok := models.entry(line)
		provider = cmp.Or(provider, by) // the newest comes first
		return e, ok
	}
	reading, err := transcript.ReadRecord(ctx, rec.Path, stated, turn, brief)
	if err != nil {
		return nil, err
	}
	_, cwd, began := head(rec.Path)
	events := transcript.Events(rec, began, cwd, reading)
	events[len(events)-1].Provider = provider
	return events, nil
}

// turn returns the turn that a line begins, nil where it begins none.
func turn(data []byte) *session.Turn {
	if !bytes.Contains(data, []byte(`"role":"user"`)) {
		return nil
	}
	e, _ := entry(data)
	length := 0
	for _, p := range e.Content {
		if p.Class == session.PromptText {
			length += len([]rune(p.Text))
		}
	}
	if length == 0 {
		return nil
	}
	return &session.Turn{Length: length}
}

// Recognize implements core.Recorder: the first line describes the session.
func (Records) Recognize(path string) (core.Record, bool) {
	id, _, _ := head(path)
	return transcript.Stat(path).Record(Name, id), id != ""
}

// Turns implements core.Recorder.
func (Records) Turns(ctx context.Context, r core.Record) ([]core.RecordedTurn, error) {
	return transcript.ReadTurns(ctx, r.Path, transcript.ReportIn(`"usage"`, entry), func(line []byte) bool { return turn(line) != nil })
}

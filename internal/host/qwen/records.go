package qwen

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

// Records finds the sessions that Qwen Code keeps on the disk. It implements core.Recorder.
type Records struct {
	transcript.Files
}

// NewRecords returns the records of a user: below QWEN_RUNTIME_DIR or QWEN_HOME where one is set, else below ~/.qwen.
func NewRecords(env host.Env) Records {
	root := filepath.Join(cmp.Or(env.Getenv("QWEN_RUNTIME_DIR"), dir(env.Getenv, env.Home)), "projects")
	return Records{transcript.Files{Name: Name, Root: root, Pattern: "*/chats/*.jsonl", Of: record}}
}

func record(f transcript.File) (core.Record, bool) {
	id, ok := strings.CutSuffix(filepath.Base(f.Path), ".jsonl")
	return f.Record(Name, id), ok
}

// At implements core.Recorder. The record of a sub-agent is a part of its session's record.
func (r Records) At(path string) (core.Record, bool) {
	if ok, _ := filepath.Match(filepath.Join(r.Root, "*", "subagents", "*", "agent-*.jsonl"), path); ok {
		agents := filepath.Dir(path)
		path = filepath.Join(filepath.Dir(filepath.Dir(agents)), "chats", filepath.Base(agents)+".jsonl")
	}
	return r.Files.At(path)
}

// headBytes bounds what is read of a record's first line, which holds the first prompt, and of the file that describes a sub-agent.
const headBytes = 64 << 10

// head returns what the first line of a record says; no id where it is none of Qwen Code's.
func head(path string) (id, cwd string, began time.Time) {
	data, err := transcript.Head(path, headBytes)
	if err != nil {
		return "", "", time.Time{}
	}
	first, _, _ := bytes.Cut(data, []byte{'\n'})
	var rawID, at, dir, parent, message, parts []byte
	transcript.Pick(first,
		transcript.Field{Name: "sessionId", Value: &rawID},
		transcript.Field{Name: "timestamp", Value: &at},
		transcript.Field{Name: "cwd", Value: &dir},
		transcript.Field{Name: "parentUuid", Value: &parent},
		transcript.Field{Name: "message", Value: &message})
	if transcript.Pick(message, transcript.Field{Name: "parts", Value: &parts}); string(parent) != "null" || parts == nil {
		return "", "", time.Time{}
	}
	return transcript.String(rawID), transcript.String(dir), transcript.Time(at)
}

// Read implements core.Recorder.
func (r Records) Read(ctx context.Context, rec core.Record, brief bool) ([]session.Event, error) {
	reading, err := transcript.ReadRecord(ctx, rec.Path, format(rec.Path), turn, brief)
	if err != nil {
		return nil, err
	}
	_, cwd, began := head(rec.Path)
	dir := filepath.Join(filepath.Dir(filepath.Dir(rec.Path)), "subagents", rec.SessionID)
	agents, err := transcript.Agents(ctx, rec, dir, "agent-*.jsonl", func(path string) (session.Reading, error) {
		return transcript.Read(ctx, path, session.Cursor{}, format(path))
	}, func(f transcript.AgentFile) bool { return f.Status != "running" })
	return append(transcript.Events(rec, began, cwd, reading), agents...), err
}

// turn returns the turn that a line begins, nil where it begins none.
func turn(data []byte) *session.Turn {
	var l line
	if !bytes.Contains(data, []byte(`"user"`)) || !l.read(data) || transcript.String(l.kind) != "user" || transcript.IsTrue(l.sidechain) {
		return nil
	}
	length := 0
	for _, p := range pieces(l.message) {
		if p.Class == session.PromptText {
			length += len([]rune(p.Text))
		}
	}
	return &session.Turn{Length: length, Machine: length == 0}
}

// Recognize implements core.Recorder: the first line names the session, and its message has the form of Gemini's API.
func (Records) Recognize(path string) (core.Record, bool) {
	id, _, _ := head(path)
	return transcript.Stat(path).Record(Name, id), id != ""
}

// Turns implements core.Recorder.
func (Records) Turns(ctx context.Context, r core.Record) ([]core.RecordedTurn, error) {
	ofMain := func(line []byte) (session.Entry, bool) { return entry(line, false) }
	return transcript.ReadTurns(ctx, r.Path, transcript.ReportIn(`"usageMetadata"`, ofMain), func(line []byte) bool { return turn(line) != nil })
}

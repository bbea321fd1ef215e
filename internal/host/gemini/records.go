package gemini

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Records finds the sessions that Gemini CLI keeps below ~/.gemini. It implements core.Recorder. The name of a record holds the
// beginning of the session's id, its first line the rest.
type Records struct {
	transcript.Files
}

// NewRecords returns the records of a user.
func NewRecords(env host.Env) Records {
	return Records{transcript.Files{Name: Name, Root: filepath.Join(env.Home, ".gemini", "tmp"), Pattern: "*/chats/session-*.jsonl", Of: record}}
}

// record returns the record that a file is; those of sub-agents are none.
func record(f transcript.File) (core.Record, bool) {
	h := readHead(f.Path)
	return f.Record(Name, h.id), h.id != "" && h.kind == "main"
}

// headBytes bounds the first line of a record, in bytes. That of version 0.61.0 has 240.
const headBytes = 4 << 10

// head is the first line of a record.
type head struct {
	id   string // of the session
	kind string // "main", or that of a sub-agent
	at   time.Time
}

func readHead(path string) (h head) {
	data, err := transcript.Head(path, headBytes)
	if err != nil {
		return h
	}
	line, _, _ := bytes.Cut(data, []byte{'\n'})
	var id, kind, began []byte
	transcript.Pick(line, transcript.Field{Name: "sessionId", Value: &id}, transcript.Field{Name: "kind", Value: &kind}, transcript.Field{Name: "startTime", Value: &began})
	return head{transcript.String(id), transcript.String(kind), transcript.Time(began)}
}

// Read implements core.Recorder.
func (r Records) Read(ctx context.Context, rec core.Record, brief bool) ([]session.Event, error) {
	reading, err := transcript.ReadRecord(ctx, rec.Path, format, turn, brief)
	if err != nil {
		return nil, err
	}
	root, _ := transcript.Head(filepath.Join(filepath.Dir(filepath.Dir(rec.Path)), ".project_root"), headBytes)
	return transcript.Events(rec, readHead(rec.Path).at, strings.TrimSpace(string(root)), reading), nil
}

// turn returns the turn that a line begins, nil where it begins none: results of tools are messages of the user, too.
func turn(data []byte) *session.Turn {
	if !bytes.Contains(data, []byte(`"user"`)) || bytes.Contains(data, []byte(`"functionResponse"`)) {
		return nil
	}
	var kind, parts []byte
	transcript.Pick(data, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "content", Value: &parts})
	if transcript.String(kind) != "user" {
		return nil
	}
	length := 0
	transcript.Elements(parts, func(part []byte) bool {
		var text []byte
		transcript.Pick(part, transcript.Field{Name: "text", Value: &text})
		if s := transcript.String(text); !strings.HasPrefix(s, "<hook_context>") {
			length += len([]rune(s))
		}
		return true
	})
	return &session.Turn{Length: length}
}

// Recognize implements core.Recorder.
func (Records) Recognize(path string) (core.Record, bool) {
	data, err := transcript.Head(path, headBytes)
	if err != nil || !bytes.Contains(data, []byte(`"projectHash"`)) {
		return core.Record{}, false
	}
	return record(transcript.Stat(path))
}

// Turns implements core.Recorder.
func (Records) Turns(ctx context.Context, r core.Record) ([]core.RecordedTurn, error) {
	return transcript.ReadTurns(ctx, r.Path, transcript.ReportIn(`"tokens"`, entry), func(line []byte) bool { return turn(line) != nil })
}

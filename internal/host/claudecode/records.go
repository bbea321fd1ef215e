package claudecode

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/shared"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Records finds the sessions that Claude Code keeps below its configuration directories. It implements core.Recorder.
type Records struct {
	dirs []string
}

// NewRecords returns the records of a user: below CLAUDE_CONFIG_DIR where that is set, else below ~/.claude and the
// ~/.config/claude of some versions.
func NewRecords(env host.Env) Records {
	if dir := env.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return Records{[]string{dir}}
	}
	return Records{[]string{filepath.Join(env.Home, ".claude"), filepath.Join(env.Home, ".config", "claude")}}
}

// Host returns Name.
func (Records) Host() session.Host { return Name }

// Dirs returns the directories that hold a directory for each project.
func (r Records) Dirs() []string {
	dirs := make([]string, len(r.dirs))
	for i, dir := range r.dirs {
		dirs[i] = filepath.Join(dir, "projects")
	}
	return dirs
}

// Find implements core.Recorder.
func (r Records) Find(ctx context.Context, since time.Time) ([]core.Record, error) {
	return transcript.Records(ctx, r.Dirs(), "*/*.jsonl", since, record)
}

// record returns the record that a transcript is. Older versions kept sub-agents beside their session; these are none.
func record(f transcript.File) (core.Record, bool) {
	id, ok := strings.CutSuffix(filepath.Base(f.Path), ".jsonl")
	return f.Record(Name, id), ok && !strings.HasPrefix(id, "agent-")
}

// At implements core.Recorder. The transcript of a sub-agent is a part of its session's record.
func (r Records) At(path string) (core.Record, bool) {
	if dir, name := filepath.Split(path); filepath.Base(dir) == "subagents" && strings.HasPrefix(name, "agent-") {
		path = filepath.Dir(filepath.Clean(dir)) + ".jsonl"
	}
	for _, projects := range r.Dirs() {
		if filepath.Dir(filepath.Dir(path)) == projects {
			return record(transcript.Stat(path))
		}
	}
	return core.Record{}, false
}

// maxProcessFile bounds the size, in bytes, of a file that describes a running process. Those of version 2.1.329 have 600.
const maxProcessFile = 64 << 10

// running returns the process that runs a session in cwd, as the host's files of running processes name it; 0 is unknown. The host
// removes such a file at the end of its process, so it is session.NoProcess if there is none for the session and none in its directory,
// where /clear may just have begun another session. The host leaves the file behind when it is killed, so the process may be gone;
// another process that has its number by now does not count. The files beside them whose names are not a number may hold secrets and
// are not opened.
func (r Records) running(ctx context.Context, rec core.Record, cwd string) int {
	dir := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(rec.Path))), "sessions")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return 0 // a version without such files
	}
	files, err := transcript.Find(ctx, dir, "[0-9]*.json", time.Time{})
	if err != nil {
		return 0
	}
	unknown := false
	for _, f := range files {
		if strings.Trim(strings.TrimSuffix(filepath.Base(f.Path), ".json"), "0123456789") != "" {
			continue
		}
		var process struct {
			PID       int    `json:"pid"`
			SessionID string `json:"sessionId"`
			Start     string `json:"procStart"`
			CWD       string `json:"cwd"`
		}
		data, err := transcript.Head(f.Path, maxProcessFile)
		if err != nil || json.Unmarshal(data, &process) != nil {
			unknown = true
			continue
		}
		if start := shared.ProcessStart(process.PID); start != "" && process.Start != "" && start != process.Start {
			continue
		}
		if process.SessionID == rec.SessionID && process.PID > 0 {
			return process.PID
		}
		unknown = unknown || cwd == "" || process.CWD == cwd
	}
	if unknown {
		return 0
	}
	return session.NoProcess
}

// Read implements core.Recorder.
func (r Records) Read(ctx context.Context, rec core.Record, brief bool) ([]session.Event, error) {
	main, err := readRecord(ctx, rec.Path, brief)
	if err != nil {
		return nil, err
	}
	head := readHead(rec.Path)
	events := transcript.Events(rec, head.At, head.CWD, main)
	events[1].HostPID = r.running(ctx, rec, head.CWD)
	agents, err := transcript.Agents(ctx, rec, strings.TrimSuffix(rec.Path, ".jsonl"), "subagents/agent-*.jsonl", func(path string) (session.Reading, error) {
		reading, err := transcript.Read(ctx, path, session.Cursor{}, format(path))
		reading.Entries = merge(reading.Entries)
		return reading, err
	}, func(f transcript.AgentFile) bool { return f.Finished })
	return append(events, agents...), err
}

// readRecord reads the end of a session's transcript, with the turns in it.
func readRecord(ctx context.Context, path string, brief bool) (session.Reading, error) {
	f := format(path)
	f.Brief = briefEntry
	reading, err := transcript.ReadRecord(ctx, path, f, turn, brief)
	reading.Entries = merge(reading.Entries)
	return reading, err
}

// briefEntry decodes what a brief reading wants of an older line. Most lines say nothing of it. Their type, or a search for a few bytes,
// tells that.
func briefEntry(data []byte) (e session.Entry, ok bool) {
	switch kind := earlyType(data); {
	case mayReport(kind, data):
		e.Report = reportOf(data)
	case mayBegin(kind, data):
		e.Turn = turn(data)
	case bytes.Contains(data[:min(len(data), 32)], titleType) || (kind == nil || string(kind) == `"system"`) && bytes.Contains(data, boundaryType):
		e, _ = entry(data, false)
	}
	if e.At.IsZero() && e.Turn != nil {
		e.At = lineTime(data)
	}
	return e, !isEmpty(e)
}

func lineTime(data []byte) time.Time {
	var at []byte
	transcript.Pick(data, transcript.Field{Name: "timestamp", Value: &at})
	return transcript.Time(at)
}

// turn returns the turn that a line begins, nil where it begins none.
func turn(data []byte) *session.Turn {
	var l line
	if !l.scan(data) || string(l.kind) != `"user"` || transcript.IsTrue(l.meta) || transcript.IsTrue(l.summary) || transcript.IsTrue(l.sidechain) {
		return nil
	}
	var e session.Entry
	l.said(&e)
	if len(e.Results) > 0 || len(e.Content) == 0 || e.Content[0].Class != session.PromptText {
		return nil
	}
	text := e.Content[0].Text
	for _, tag := range []string{"<local-command-", "<command-name>", "<bash-"} { // the host runs these itself
		if strings.HasPrefix(strings.TrimSpace(text), tag) {
			return nil
		}
	}
	return &session.Turn{Machine: isMachine(text), Length: len([]rune(text))}
}

// head is what the first lines of a transcript say of the session.
type head struct {
	At      time.Time // of the first line
	CWD     string
	Version string // of the host that wrote it
}

// headBytes is how much of a transcript is searched for the session's directory, which the first prompt names.
const headBytes = 64 << 10

func readHead(path string) (h head) {
	data, err := transcript.Head(path, headBytes)
	if err != nil {
		return h
	}
	for line := range strings.Lines(string(data)) {
		var at, cwd, version []byte
		transcript.Pick([]byte(line), transcript.Field{Name: "timestamp", Value: &at}, transcript.Field{Name: "cwd", Value: &cwd}, transcript.Field{Name: "version", Value: &version})
		if h.At.IsZero() {
			h.At = transcript.Time(at)
		}
		if h.CWD = transcript.String(cwd); h.CWD != "" {
			h.Version = transcript.String(version)
			return h
		}
	}
	return h
}

// Recognize implements core.Recorder: the host writes the id of the session on its lines.
func (Records) Recognize(path string) (core.Record, bool) {
	data, err := transcript.Head(path, headBytes)
	if err != nil {
		return core.Record{}, false
	}
	for line := range strings.Lines(string(data)) {
		var id, kind, sidechain []byte
		if !transcript.Pick([]byte(line), transcript.Field{Name: "sessionId", Value: &id}, transcript.Field{Name: "type", Value: &kind},
			transcript.Field{Name: "isSidechain", Value: &sidechain}) {
			return core.Record{}, false
		}
		if sessionID := transcript.String(id); sessionID != "" && kind != nil && !transcript.IsTrue(sidechain) && !strings.Contains(line, `"parts":`) { // Qwen Code's have parts
			return transcript.Stat(path).Record(Name, sessionID), true
		}
	}
	return core.Record{}, false
}

var (
	usageMember = []byte(`"usage":`)
	userType    = []byte(`"type":"user"`)
	toolResult  = []byte(`"tool_result"`)
)

// Turns implements core.Recorder.
func (Records) Turns(ctx context.Context, r core.Record) ([]core.RecordedTurn, error) {
	return transcript.ReadTurns(ctx, r.Path, func(line []byte) *session.Report {
		if !mayReport(earlyType(line), line) {
			return nil
		}
		return reportOf(line)
	}, func(line []byte) bool { return mayBegin(earlyType(line), line) && turn(line) != nil })
}

// mayReport reports whether a line of this early type may state a usage.
func mayReport(kind, data []byte) bool {
	return (kind == nil || string(kind) == `"assistant"`) && bytes.Contains(data, usageMember)
}

// mayBegin reports whether a line of this early type may be a prompt.
func mayBegin(kind, data []byte) bool {
	return (kind == nil || string(kind) == `"user"`) && bytes.Contains(data, userType) && !bytes.Contains(data, toolResult)
}

// earlyType returns the type of a line, nil if it stands behind the message or there is none.
func earlyType(data []byte) (kind []byte) {
	transcript.Members(data, func(key, value []byte) bool {
		if string(key) == "type" {
			kind = value
		}
		return kind == nil && string(key) != "message"
	})
	return kind
}

// reportOf returns the usage that a line of an answer states, nil where it states none of the main chain.
func reportOf(data []byte) *session.Report {
	var l line
	if !l.scan(data) || string(l.kind) != `"assistant"` || transcript.IsTrue(l.sidechain) || transcript.IsTrue(l.apiError) {
		return nil
	}
	var id, model, usage []byte
	transcript.Pick(l.message,
		transcript.Field{Name: "id", Value: &id},
		transcript.Field{Name: "model", Value: &model},
		transcript.Field{Name: "usage", Value: &usage})
	tuple, ok := usageTuple(usage)
	if !ok || tuple.IsZero() {
		return nil
	}
	return &session.Report{
		At: transcript.Time(l.timestamp), Tuple: tuple, Tokens: occupancy(tuple), Provenance: session.ProvenanceTranscript,
		Model: transcript.String(model), MessageID: transcript.String(id),
	}
}

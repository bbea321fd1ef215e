package codex

import (
	"bytes"
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/shared"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Records finds the sessions that Codex keeps below its home. It implements core.Recorder.
type Records struct {
	dir   string
	heads *sync.Map // path to head; the first line of a rollout never changes
}

// NewRecords returns the records of a user: below CODEX_HOME where that is set, else below ~/.codex.
func NewRecords(env host.Env) Records {
	if dir := env.Getenv("CODEX_HOME"); dir != "" {
		return Records{dir, &sync.Map{}}
	}
	return Records{filepath.Join(env.Home, ".codex"), &sync.Map{}}
}

// Host returns Name.
func (Records) Host() session.Host { return Name }

// Dirs returns the directories of running and of archived sessions.
func (r Records) Dirs() []string {
	return []string{filepath.Join(r.dir, "sessions"), filepath.Join(r.dir, "archived_sessions")}
}

// idLength is the length of a thread's id, with which the name of its rollout ends.
const idLength = len("01a1fd86-50af-7d62-a5b8-a86dbbf4e86f")

// Find implements core.Recorder. The rollouts of sub-agents are among the records, since their names do not tell; Read has no
// events for them. The host sorts rollouts by the day on which their session began.
func (r Records) Find(ctx context.Context, since time.Time) ([]core.Record, error) {
	var records []core.Record
	for i, pattern := range []string{"*/*/*/rollout-*.jsonl", "rollout-*.jsonl"} {
		found, err := transcript.Records(ctx, r.Dirs()[i:i+1], pattern, since, recordOf)
		if err != nil {
			return nil, err
		}
		records = append(records, found...)
	}
	slices.SortStableFunc(records, func(a, b core.Record) int { return b.ModTime.Compare(a.ModTime) })
	return records, nil
}

// recordOf returns the record that a rollout is.
func recordOf(f transcript.File) (core.Record, bool) {
	name, ok := strings.CutSuffix(filepath.Base(f.Path), ".jsonl")
	if !ok || !strings.HasPrefix(name, "rollout-") || len(name) < idLength {
		return core.Record{}, false
	}
	return f.Record(Name, name[len(name)-idLength:]), true
}

// At implements core.Recorder. The rollout of a sub-agent is a part of its session's record.
func (r Records) At(path string) (core.Record, bool) {
	for _, dir := range r.Dirs() {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			if h := r.head(path); h.isAgent() {
				path = r.sibling(path, h.session)
			}
			return recordOf(transcript.Stat(path))
		}
	}
	return core.Record{}, false
}

// Read implements core.Recorder.
func (r Records) Read(ctx context.Context, rec core.Record, brief bool) ([]session.Event, error) {
	head := r.head(rec.Path)
	if head.isAgent() {
		return nil, nil
	}
	main, model, _, err := readRollout(ctx, rec.Path, brief)
	if err != nil {
		return nil, err
	}
	events := transcript.Events(rec, head.at, head.cwd, main)
	events[1].Model = model
	// The host holds this lock while it may write the rollout.
	events[1].HostPID = shared.LockHolder(filepath.Join(r.dir, "thread-writer-locks", rec.SessionID+".lock"))
	agents, err := r.agents(ctx, rec)
	return append(events, agents...), err
}

// agents returns an event for each of the sub-agents that were active last, the oldest first. Their rollouts lie in the directory
// of the day on which they began, which is looked for no later than the day after that of the session.
func (r Records) agents(ctx context.Context, rec core.Record) ([]session.Event, error) {
	var events []session.Event
	for _, dir := range []string{filepath.Dir(rec.Path), dayAfter(filepath.Dir(rec.Path))} {
		files, err := transcript.Find(ctx, dir, "rollout-*.jsonl", r.head(rec.Path).at)
		if err != nil {
			return nil, err
		}
		for _, f := range slices.Backward(files) {
			h := r.head(f.Path)
			if !h.isAgent() || h.session != rec.SessionID {
				continue
			}
			reading, model, ended, err := readRollout(ctx, f.Path, true)
			if err != nil {
				continue
			}
			ev := session.Event{
				Host: Name, SessionID: rec.SessionID, Kind: session.AgentStarted, Name: "record", At: f.ModTime,
				AgentID: h.id, AgentType: cmp.Or(h.role, defaultRole), Model: model, AgentTranscript: f.Path, Reading: &reading,
			}
			if ended {
				ev.Kind = session.AgentFinished
			}
			events = append(events, ev)
		}
	}
	return events[max(0, len(events)-session.MaxAgents):], nil
}

// dayAfter returns the directory of the day after that of dir, which ends in year, month and day.
func dayAfter(dir string) string {
	rest, day := filepath.Split(dir)
	rest, month := filepath.Split(filepath.Clean(rest))
	root, year := filepath.Split(filepath.Clean(rest))
	at, err := time.Parse("2006-01-02", year+"-"+month+"-"+day)
	if err != nil { // archived sessions lie in one directory
		return filepath.Join(dir, "none")
	}
	return filepath.Join(root, filepath.FromSlash(at.AddDate(0, 0, 1).Format("2006/01/02")))
}

// sibling returns the rollout of a session beside that of one of its sub-agents; the path itself where there is none.
func (r Records) sibling(path, session string) string {
	found, err := filepath.Glob(filepath.Join(filepath.Dir(path), "rollout-*-"+session+".jsonl"))
	if err != nil || len(found) == 0 {
		return path
	}
	return found[0]
}

// readRollout reads the end of a rollout, with the turns in it and the model of the newest. ended says that this turn has ended.
func readRollout(ctx context.Context, path string, brief bool) (reading session.Reading, model string, ended bool, err error) {
	f := format(path)
	lines, known := f.Entry, false
	f.Entry = func(data []byte) (session.Entry, bool) { // newest first
		switch start := data[:min(len(data), 200)]; {
		case model == "" && bytes.Contains(start, turnContext):
			model = modelOf(data)
		case !known && (bytes.Contains(start, taskComplete) || bytes.Contains(start, turnAborted)):
			known, ended = true, true
		case !known && bytes.Contains(start, taskStarted):
			known = true
		}
		return lines(data)
	}
	reading, err = transcript.ReadRecord(ctx, path, f, turn, brief)
	reading.Entries = merge(reading.Entries)
	return reading, model, ended, err
}

// defaultRole is what hooks call a sub-agent without a role of its own.
const defaultRole = "default"

var (
	turnContext  = []byte(`"turn_context"`)
	taskStarted  = []byte(`"type":"task_started"`)
	taskComplete = []byte(`"type":"task_complete"`)
	turnAborted  = []byte(`"type":"turn_aborted"`)
	userMessage  = []byte(`"UserMessage"`)
)

// modelOf returns the model that the context of a turn names.
func modelOf(data []byte) string {
	var payload, model []byte
	transcript.Pick(data, transcript.Field{Name: "payload", Value: &payload})
	transcript.Pick(payload, transcript.Field{Name: "model", Value: &model})
	return transcript.String(model)
}

// turn returns the turn that a line begins, nil where it begins none.
func turn(data []byte) *session.Turn {
	if !bytes.Contains(data, userMessage) {
		return nil
	}
	var payload, item, kind, content []byte
	transcript.Pick(data, transcript.Field{Name: "payload", Value: &payload})
	transcript.Pick(payload, transcript.Field{Name: "item", Value: &item})
	transcript.Pick(item, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "content", Value: &content})
	if transcript.String(kind) != "UserMessage" {
		return nil
	}
	var prompt strings.Builder
	transcript.Elements(content, func(part []byte) bool {
		var text []byte
		transcript.Pick(part, transcript.Field{Name: "text", Value: &text})
		prompt.WriteString(transcript.String(text))
		return true
	})
	return &session.Turn{Machine: isMachine(prompt.String()), Length: len([]rune(prompt.String()))}
}

// headBytes bounds how much of a rollout is read for its first line, which holds the base instructions: 30 KB in 0.169.0.
const headBytes = 256 << 10

// head is what the first line of a rollout says.
type head struct {
	id      string // of the thread
	session string // of the session at the top, which is id where the thread is no sub-agent
	role    string // of a sub-agent
	cwd     string
	at      time.Time // when it began
}

func (h head) isAgent() bool { return h.session != "" && h.session != h.id }

func (r Records) head(path string) head {
	if known, ok := r.heads.Load(path); ok {
		return known.(head)
	}
	data, err := transcript.Head(path, headBytes)
	line, _, complete := bytes.Cut(data, []byte{'\n'})
	if err != nil || !complete {
		return head{}
	}
	var kind, payload, id, session, cwd, began, role []byte
	transcript.Pick(line, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "payload", Value: &payload})
	transcript.Pick(payload,
		transcript.Field{Name: "id", Value: &id},
		transcript.Field{Name: "session_id", Value: &session},
		transcript.Field{Name: "cwd", Value: &cwd},
		transcript.Field{Name: "timestamp", Value: &began},
		transcript.Field{Name: "agent_role", Value: &role})
	if transcript.String(kind) != "session_meta" {
		return head{}
	}
	h := head{transcript.String(id), transcript.String(session), transcript.String(role), transcript.String(cwd), transcript.Time(began)}
	r.heads.Store(path, h)
	return h
}

// Recognize implements core.Recorder: a rollout begins with what the host knows of the session.
func (r Records) Recognize(path string) (core.Record, bool) {
	id := r.head(path).id
	return transcript.Stat(path).Record(Name, id), id != ""
}

// Turns implements core.Recorder.
func (Records) Turns(ctx context.Context, r core.Record) ([]core.RecordedTurn, error) {
	entry := format(r.Path).Entry
	return transcript.ReadTurns(ctx, r.Path, func(line []byte) *session.Report {
		if !bytes.Contains(line[:min(len(line), 160)], tokenCount) {
			return nil
		}
		if e, _ := entry(line); e.Report != nil && !e.Report.Tuple.IsZero() {
			return e.Report
		}
		return nil
	}, func(line []byte) bool { return turn(line) != nil })
}

var tokenCount = []byte(`"token_count"`)

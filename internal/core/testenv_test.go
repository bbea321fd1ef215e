package core

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/token"
)

// testEnv plays events against a state in memory. The contract suite tests the real stores, and this fake tests the
// domain without a database.
type testEnv struct {
	cfg   settings.Config
	rules map[session.Host]session.Rules
	now   time.Time

	sessions map[session.Key]session.Session
	paths    map[session.Key]map[string]session.PathUse
	samples  map[session.Key][]session.Sample
	learned  map[session.LearnedWindow]session.LearnedWindow // by host, provider and model alone
	taught   map[[2]string]session.Calibration               // by model and encoding
	tasks    []fleet.Task
	alert    fleet.AlertGate
	trim     fleet.TrimCount
	counter  token.Counter

	revision       int64
	saved, removed map[session.Key]int64 // the revision of the last time
}

func newTestEnv() *testEnv {
	return &testEnv{cfg: settings.Default(), now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
		rules:    map[session.Host]session.Rules{session.HostClaudeCode: claudeRules, session.HostOpenCode: openCodeRules, session.HostCodex: codexRules, session.HostGeneric: {}},
		sessions: map[session.Key]session.Session{}, paths: map[session.Key]map[string]session.PathUse{}, samples: map[session.Key][]session.Sample{}, learned: map[session.LearnedWindow]session.LearnedWindow{},
		taught: map[[2]string]session.Calibration{}, saved: map[session.Key]int64{}, removed: map[session.Key]int64{}}
}

func learnedKey(l session.LearnedWindow) session.LearnedWindow {
	return session.LearnedWindow{Host: l.Host, Provider: l.Provider, Model: l.Model}
}

func (w *testEnv) Load(_ context.Context, q Query) (session.State, error) {
	st := session.State{Alert: w.alert}
	st.Session, st.Known = w.sessions[q.Key]
	st.WorkingSet = w.workingSet(q.Key)
	if !q.WorkingSet {
		st.WorkingSet = nil
	}
	provider, modelID := cmp.Or(q.Provider, st.Session.Provider), cmp.Or(q.Model, st.Session.Model)
	st.Learned = w.learned[session.LearnedWindow{Host: q.Key.Host, Provider: provider, Model: model.Plain(modelID)}]
	if plain := model.Plain(modelID); q.Calibration != "" && plain != "" {
		st.Calibration = w.taught[[2]string{plain, q.Calibration}]
		st.Calibration.Model, st.Calibration.Encoding = plain, q.Calibration
	}
	if q.Task != nil {
		id := q.Task(st.Session)
		st.Tasks.Full = len(w.tasks) >= q.WindowTasks
		for i, task := range w.tasks {
			st.Tasks.Tasks++
			if task.Tokens > q.TaskThreshold {
				st.Tasks.Exceeding++
				st.Tasks.OldestExceeds = st.Tasks.OldestExceeds || i == 0 && st.Tasks.Full
			}
			if task.ID == id {
				st.Tasks.IsRecorded, st.Tasks.Recorded = true, task.Tokens
			}
		}
	}
	return st, nil
}

func (w *testEnv) Update(ctx context.Context, q Query, decide func(session.State) session.Changes) error {
	st, _ := w.Load(ctx, q)
	ch := decide(st)
	if ch.Delete && st.Known {
		w.revision++
		w.removed[q.Key] = w.revision
		delete(w.saved, q.Key)
		delete(w.sessions, q.Key)
		delete(w.paths, q.Key)
		delete(w.samples, q.Key)
		for i, t := range w.tasks {
			if strings.HasPrefix(t.ID, session.TurnTaskPrefix(q.Key)) {
				w.tasks[i].ID = fmt.Sprint("forgotten ", w.now, i)
			}
		}
	}
	if ch.Session != nil {
		w.sessions[q.Key] = *ch.Session
	}
	if ch.Session != nil || len(ch.Paths)+len(ch.Samples) > 0 {
		w.revision++
		w.saved[q.Key] = w.revision
		delete(w.removed, q.Key)
	}
	for _, use := range ch.Paths {
		if w.paths[q.Key] == nil {
			w.paths[q.Key] = map[string]session.PathUse{}
		}
		old := w.paths[q.Key][use.Path]
		use.Use = max(use.Use, old.Use)
		w.paths[q.Key][use.Path] = use
	}
	w.samples[q.Key] = append(w.samples[q.Key], ch.Samples...)
	if ch.Learned != nil {
		w.learned[learnedKey(*ch.Learned)] = *ch.Learned
	}
	if c := ch.Calibration; c != nil {
		w.taught[[2]string{c.Model, c.Encoding}] = *c
	}
	if ch.Alert != nil {
		w.alert = *ch.Alert
	}
	if ch.Trim != nil {
		w.trim.Operations += ch.Trim.Operations
		w.trim.Tokens += ch.Trim.Tokens
	}
	if ch.Task != nil {
		i := slices.IndexFunc(w.tasks, func(t fleet.Task) bool { return t.ID == ch.Task.ID })
		if i < 0 {
			w.tasks = append(w.tasks, *ch.Task)
			w.tasks = w.tasks[max(0, len(w.tasks)-ch.WindowTasks):]
		} else {
			w.tasks[i].Tokens = max(w.tasks[i].Tokens, ch.Task.Tokens)
		}
	}
	return nil
}

func (w *testEnv) workingSet(key session.Key) []session.PathUse {
	set := slices.Collect(maps.Values(w.paths[key]))
	slices.SortFunc(set, func(a, b session.PathUse) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Path, b.Path)) })
	return set
}

func (w *testEnv) Session(_ context.Context, key session.Key) (session.Snapshot, error) {
	s, ok := w.sessions[key]
	if !ok {
		return session.Snapshot{}, coded.Errorf(coded.NotFound, "no session %q", key.SessionID)
	}
	return session.Snapshot{Session: s, WorkingSet: w.workingSet(key)}, nil
}

func (w *testEnv) FindSessions(_ context.Context, id string) ([]session.Session, error) {
	var found []session.Session
	for key, s := range w.sessions {
		if key.SessionID == id {
			found = append(found, s)
		}
	}
	return found, nil
}

func (w *testEnv) Sessions(ctx context.Context, _ SessionFilter) ([]session.Snapshot, error) {
	var all []session.Snapshot
	for key := range w.sessions {
		s, _ := w.Session(ctx, key)
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b session.Snapshot) int { return b.Session.UpdatedAt.Compare(a.Session.UpdatedAt) })
	return all, nil
}

func (w *testEnv) Changed(ctx context.Context, since int64) (Feed, error) {
	feed := Feed{Revision: w.revision, Whole: since == 0, Alert: w.alert}
	after := func(revisions map[session.Key]int64) (keys []session.Key) {
		for _, key := range slices.SortedFunc(maps.Keys(revisions), func(a, b session.Key) int { return cmp.Compare(revisions[a], revisions[b]) }) {
			if revisions[key] > since {
				keys = append(keys, key)
			}
		}
		return keys
	}
	for _, key := range after(w.saved) {
		s, _ := w.Session(ctx, key)
		feed.Sessions = append(feed.Sessions, s)
	}
	if !feed.Whole {
		feed.Removed = after(w.removed)
	}
	return feed, nil
}

func (w *testEnv) Samples(_ context.Context, key session.Key, _ int) ([]session.Sample, error) {
	return w.samples[key], nil
}

func (w *testEnv) Fleet(context.Context, int) (fleet.Fleet, error) {
	f := fleet.Fleet{Trim: w.trim, Alert: w.alert}
	for _, t := range w.tasks {
		f.Tokens = append(f.Tokens, t.Tokens)
	}
	return f, nil
}

func (w *testEnv) ImportTasks(context.Context, []ImportedTask, int) (int, error) { return 0, nil }

func (w *testEnv) Taken(context.Context, []session.Key) (map[session.Key]bool, error) {
	return nil, nil
}

func (w *testEnv) Windows(context.Context) ([]session.LearnedWindow, error) {
	return slices.Collect(maps.Values(w.learned)), nil
}

// Claim never succeeds: the domain has no alerts.
func (w *testEnv) Claim(context.Context, Claim) (bool, error) { return false, nil }

// Watch never signals: the domain does not watch.
func (w *testEnv) Watch(context.Context) <-chan struct{} { return nil }

func (w *testEnv) Close() error { return nil }

// plainAdapter is a host whose payload is only the kind of the event, and whose transcripts are given as readings.
type plainAdapter struct {
	host     session.Host
	rules    session.Rules
	readings map[string]session.Reading
}

func (a plainAdapter) Host() session.Host   { return a.host }
func (a plainAdapter) Rules() session.Rules { return a.rules }
func (a plainAdapter) Decode(name string, payload []byte) (session.Event, error) {
	if len(payload) == 0 {
		return session.Event{}, coded.Errorf(coded.Invalid, "payload: expected an event, got nothing")
	}
	return session.Event{Host: a.host, SessionID: "s", Kind: session.Kind(payload), Name: name, Accepts: []session.EffectKind{session.Inject, session.CompactionContext}}, nil
}
func (a plainAdapter) Read(_ context.Context, path string, _ session.Cursor) (session.Reading, error) {
	return a.readings[path], nil
}
func (a plainAdapter) Encode(_ session.Event, effects []session.Effect) ([]byte, error) {
	var texts []string
	for _, e := range effects {
		texts = append(texts, e.Text)
	}
	return []byte(strings.Join(texts, "\n")), nil
}

func (w *testEnv) service() *Service {
	adapters := map[session.Host]Adapter{}
	for host, rules := range w.rules {
		adapters[host] = plainAdapter{host: host, rules: rules}
	}
	return &Service{Store: w, Adapters: adapters, Config: func(string) settings.Config { return w.cfg }, Now: func() time.Time { return w.now }, Counter: w.counter,
		DirExists: func(path string) bool { return strings.HasSuffix(path, "exists") }, Log: slog.New(slog.DiscardHandler)}
}

// play handles one event a second and returns the result of the last.
func (w *testEnv) play(t testing.TB, events ...session.Event) Outcome {
	t.Helper()
	var out Outcome
	for _, ev := range events {
		if ev.Host == "" {
			ev.Host = session.HostClaudeCode
		}
		if ev.SessionID == "" {
			ev.SessionID = "s"
		}
		if ev.CWD == "" {
			ev.CWD = "/p"
		}
		if ev.Accepts == nil {
			ev.Accepts = []session.EffectKind{session.Inject, session.CompactionContext}
		}
		w.now = w.now.Add(time.Second)
		ev.Reports = slices.Clone(ev.Reports)
		for i := range ev.Reports {
			if ev.Reports[i].At.Equal(whenPlayed) {
				ev.Reports[i].At = w.now
			}
		}
		o, err := w.service().Handle(t.Context(), ev)
		if err != nil {
			t.Fatalf("%s: %v", ev.Kind, err)
		}
		out = o
	}
	return out
}

// texts joins the texts for the agent.
func texts(effects []session.Effect) string {
	var all []string
	for _, e := range effects {
		all = append(all, e.Text)
		all = append(all, e.Lines...)
	}
	return strings.Join(all, "\n")
}

func (w *testEnv) session() session.Session {
	return w.sessions[session.Key{Host: session.HostClaudeCode, SessionID: "s"}]
}

// reported returns a report of a response at the current time.
func (w *testEnv) reported(tokens int) session.Report {
	return session.Report{At: w.now, Tuple: session.UsageTuple{Input: 12, CacheRead: tokens - 12, Output: 77}, Tokens: tokens, Provenance: session.ProvenanceTranscript, Model: "claude-sonnet-4-5"}
}

// whenPlayed stands for the time when an event is played.
var whenPlayed = time.Unix(1, 0)

// at returns an event that reports a response with the given occupancy.
func (w *testEnv) at(kind session.Kind, tokens int) session.Event {
	rep := w.reported(tokens)
	rep.At = whenPlayed
	return session.Event{Kind: kind, Reports: []session.Report{rep}}
}

// Unexported rules of package session that tests here depend on.
const (
	lateSign       = 2 * time.Minute
	openingExpires = 10 * time.Minute
	maxGrowth      = 8
	unseenPrompt   = 45_000
)

var claudeRules = session.Rules{Provider: "anthropic", BatchEvent: true, SummaryVisible: true, SuffixHidden: true,
	Tools:      map[string]session.ToolClass{"Read": session.ReadTool, "Bash": session.ShellTool, "Write": session.EditTool, "Grep": session.SearchTool},
	Compaction: model.CompactionRule{OutputCap: 20_000, Buffer: 13_000, RefusalBuffer: 3_000, OnRefusalSince: "2.1.220"}}

var (
	openCodeRules = session.Rules{CountsOutput: true, SummaryVisible: true, ChildSessions: true, GuideLate: true, Compaction: model.CompactionRule{OutputCap: 32_000, InputOutputCap: 20_000}}
	codexRules    = session.Rules{Provider: "openai", CountsOutput: true, Compaction: model.CompactionRule{Numerator: 90, Denominator: 95}}
)

// native returns a path in the form that events have on this system. On Windows, /p is on a drive.
func native(path string) string { return pathname.Native(path, pathname.OnWindows) }

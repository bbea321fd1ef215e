package core

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestReport(t *testing.T) {
	cfg := settings.Default().Metrics
	if diff := cmp.Diff(fleet.ContextOptimizationReport{WindowTasks: 1000, ThresholdTokens: 200_000}, fleet.Fleet{}.Report(cfg)); diff != "" {
		t.Errorf("an empty ring (-want +got):\n%s", diff)
	}
	f := fleet.Fleet{Since: time.Unix(9, 0), Trim: fleet.TrimCount{Operations: 2, Tokens: 50_000}}
	for i := range 10 {
		f.Tokens = append(f.Tokens, (i+1)*25_000) // up to 250,000; two of them above 200,000
	}
	want := fleet.ContextOptimizationReport{P90ExceedanceRate: 0.2, AverageTokens: 137_500, TrimOperations: 2, Tasks: 10, WindowTasks: 1000, ThresholdTokens: 200_000,
		P50Tokens: 125_000, P90Tokens: 225_000, P99Tokens: 250_000, MaxTokens: 250_000, TrimmedTokens: 50_000, Since: &f.Since}
	if diff := cmp.Diff(want, f.Report(cfg)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAlertGate(t *testing.T) {
	cfg, now := settings.Default().Metrics, time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name      string
		exceeding int
		last      time.Time
		want      bool
	}{
		{"exactly a tenth", 100, time.Time{}, false},
		{"just above a tenth", 101, time.Time{}, true},
		{"59.999 seconds after the last", 101, now.Add(-59_999 * time.Millisecond), false},
		{"a minute after the last", 101, now.Add(-time.Minute), true},
		{"the clock went back a little", 101, now.Add(10 * time.Second), false},
		{"the clock went back a day", 101, now.Add(24 * time.Hour), true},
	} {
		if _, got := (fleet.AlertGate{At: tt.last}).Due(fleet.TaskSums{Tasks: 1000, Exceeding: tt.exceeding}, cfg, now); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	cfg.AlertRate = 0.29 // 28.999999999999996 of 100 in floating point
	for exceeding, want := range map[int]bool{29: false, 30: true} {
		if _, got := (fleet.AlertGate{}).Due(fleet.TaskSums{Tasks: 100, Exceeding: exceeding}, cfg, now); got != want {
			t.Errorf("%d %% of a rate of 29 %%: %v", exceeding, got)
		}
	}
	if _, due := (fleet.AlertGate{}).Due(fleet.TaskSums{}, cfg, now); due {
		t.Error("an alert about no task")
	}
}

// The sums after a record are the sums over the ring, whatever was recorded before.
func TestTaskSumsFollowTheRing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newTestEnv()
		w.cfg.Metrics.WindowTasks = rapid.IntRange(1, 5).Draw(rt, "window")
		for range rapid.IntRange(1, 20).Draw(rt, "tasks") {
			id := fmt.Sprint(rapid.IntRange(0, 7).Draw(rt, "id"))
			tokens := rapid.SampledFrom([]int{1, 200_000, 200_001, 900_000}).Draw(rt, "tokens")
			rate, _, err := w.service().RecordTask(t.Context(), id, tokens)
			if err != nil {
				rt.Fatal(err)
			}
			report, _ := w.service().Report(t.Context())
			if report.P90ExceedanceRate != rate || report.Tasks > w.cfg.Metrics.WindowTasks {
				rt.Fatalf("recorded at a rate of %v, the ring says %v of %d", rate, report.P90ExceedanceRate, report.Tasks)
			}
		}
	})
}

func TestService(t *testing.T) {
	w := newTestEnv()
	s := w.service()
	for _, ev := range []session.Event{{Host: session.HostClaudeCode}, {Host: "emacs", SessionID: "s"}} {
		if _, err := s.Handle(t.Context(), ev); coded.CodeOf(err) != coded.Invalid {
			t.Errorf("%+v: %v", ev, err)
		}
	}
	if _, _, err := s.Hook(t.Context(), "emacs", "", nil); coded.CodeOf(err) != coded.Invalid {
		t.Errorf("an unknown host: %v", err)
	}
	if _, _, err := s.Hook(t.Context(), session.HostGeneric, "", nil); coded.CodeOf(err) != coded.Invalid {
		t.Errorf("an empty payload: %v", err)
	}
	w.cfg.Tracking.GuardDir = "missing"
	if _, out, err := s.Hook(t.Context(), session.HostClaudeCode, "x", []byte(session.SessionStarted)); err != nil || len(out) != 0 {
		t.Errorf("guarded: %q, %v", out, err)
	}
	if out := w.play(t, session.Event{Kind: session.SessionStarted, SessionID: "guarded"}); len(out.Effects) != 0 {
		t.Errorf("guarded: %v", out.Effects)
	}
	w.cfg.Tracking.GuardDir = "exists"
	if out := w.play(t, session.Event{Kind: session.SessionStarted, SessionID: "guarded"}); len(out.Effects) != 1 {
		t.Errorf("the guard directory exists: %v", out.Effects)
	}
	if _, err := s.Session(t.Context(), session.Key{SessionID: "nobody"}); coded.CodeOf(err) != coded.NotFound {
		t.Errorf("an unknown session: %v", err)
	}
	if _, err := s.Session(t.Context(), session.Key{Host: session.HostCodex, SessionID: "nobody"}); coded.CodeOf(err) != coded.NotFound {
		t.Errorf("an unknown session of a host: %v", err)
	}
	if v, err := s.Session(t.Context(), session.Key{SessionID: "s"}); err != nil || v.Host != session.HostClaudeCode {
		t.Errorf("%+v, %v", v, err)
	}
	w.play(t, session.Event{Host: session.HostCodex, Kind: session.SessionStarted})
	if _, err := s.Session(t.Context(), session.Key{SessionID: "s"}); coded.CodeOf(err) != coded.Invalid || !strings.Contains(err.Error(), "2 hosts") {
		t.Errorf("an id of two hosts: %v", err)
	}
	if err := s.CountTrim(t.Context(), 30_000); err != nil || w.trim != (fleet.TrimCount{Operations: 1, Tokens: 30_000}) {
		t.Errorf("%+v, %v", w.trim, err)
	}
}

func TestServiceReadsTranscripts(t *testing.T) {
	w := newTestEnv()
	s := w.service()
	rep := w.reported(42_000)
	s.Adapters[session.HostClaudeCode] = plainAdapter{host: session.HostClaudeCode, rules: claudeRules, readings: map[string]session.Reading{
		"main.jsonl": {Cursor: session.Cursor{Device: 1, Inode: 1, Offset: 5}, Entries: []session.Entry{{At: w.now, Title: "a title", Report: &rep, Paths: []session.PathUse{{Path: "/p/a", Use: session.Read}}}}},
		"side.jsonl": {Cursor: session.Cursor{Device: 1, Inode: 2, Offset: 5}, Entries: []session.Entry{{At: w.now, Report: &rep}}},
	}}
	main := session.Event{Host: session.HostClaudeCode, SessionID: "s", Kind: session.PromptSubmitted, CWD: "/p", Transcript: "main.jsonl", Accepts: []session.EffectKind{session.Inject}}
	side := session.Event{Host: session.HostClaudeCode, SessionID: "s", Kind: session.AgentStarted, AgentID: "a", Transcript: "main.jsonl", AgentTranscript: "side.jsonl"}
	out, err := s.Handle(t.Context(), main)
	if err != nil || texts(out.Effects) != "[context used: 21%]" || out.Session.Title != "a title" || len(out.Session.WorkingSet) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	for range 2 {
		if out, err = s.Handle(t.Context(), side); err != nil || *out.Session.Agents[0].Usage.Tokens != 42_000 {
			t.Errorf("%+v, %v", out, err)
		}
	}
}

func TestErrors(t *testing.T) {
	cause := errors.New("disk full")
	err := fmt.Errorf("door: %w", coded.Errorf(coded.Unavailable, "the state cannot be written: %w", cause))
	if coded.CodeOf(err) != coded.Unavailable || !errors.Is(err, cause) || coded.CodeOf(cause) != coded.Internal || coded.CodeOf(nil) != "" {
		t.Errorf("%v", err)
	}
}

func TestTokenLimit(t *testing.T) {
	for in, want := range map[string]settings.TokenLimit{`"auto"`: {Auto: true}, "null": {}, "5": {Tokens: 5}} {
		var got settings.TokenLimit
		if err := got.UnmarshalJSON([]byte(in)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
		if out, err := got.MarshalJSON(); err != nil || string(out) != in {
			t.Errorf("%s came back as %s, %v", in, out, err)
		}
	}
	for _, in := range []string{"0", "-1", `"all"`, "true", "1.5"} {
		if err := new(settings.TokenLimit).UnmarshalJSON([]byte(in)); err == nil {
			t.Errorf("%s was taken", in)
		}
	}
}

func TestConfigCheck(t *testing.T) {
	if wrong := settings.Default().Check(); len(wrong) != 0 {
		t.Errorf("the defaults are wrong: %v", wrong)
	}
	c := settings.Default()
	c.Levels = []int{70, 50, 85}
	c.Tracking.GuardDir = "../up"
	c.Trim.TargetTokens = c.Trim.ThresholdTokens + 1
	c.Store.Path, c.Log.Path = "state.db", "~/ctxls.log"
	c.Window.Overrides = map[string]int{" ": 1}
	if wrong := c.Check(); len(wrong) != 5 {
		t.Errorf("%v", wrong)
	}
}

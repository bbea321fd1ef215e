package core

import (
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/google/go-cmp/cmp"
)

// A whole session: the marks rise with the reports, the reminder comes once, the summarizer gets the working context,
// and after the compaction earlier figures do not count.
func TestLifeOfASession(t *testing.T) {
	w := newTestEnv()
	out := w.play(t, session.Event{Kind: session.SessionStarted})
	if got := texts(out.Effects); !strings.Contains(got, "[context used: 50%]") {
		t.Errorf("guidance = %q", got)
	}
	if out = w.play(t, session.Event{Kind: session.PromptSubmitted, Prompt: "look at @notes.txt"}); len(out.Effects) != 0 {
		t.Errorf("a first prompt without usage was told %q", texts(out.Effects))
	}
	out = w.play(t, w.at(session.BatchFinished, 100_000), w.at(session.BatchFinished, 143_912))
	want := "ctxls: about 28.0% of this session's context window is still free. There is room to go on with the work at full " +
		"quality, without hurrying or cutting it short.\n[Context Status: 72.0% used (143,912/200,000 tokens), 28.0% remaining]"
	if diff := cmp.Diff(want, texts(out.Effects)); diff != "" {
		t.Errorf("reminder (-want +got):\n%s", diff)
	}
	if out = w.play(t, w.at(session.BatchFinished, 150_000)); len(out.Effects) != 0 {
		t.Errorf("a second reminder: %q", texts(out.Effects))
	}
	if out = w.play(t, session.Event{Kind: session.TurnFinished}, session.Event{Kind: session.PromptSubmitted, Prompt: "go on"}); texts(out.Effects) != "[context used: 75%]" {
		t.Errorf("mark = %q", texts(out.Effects))
	}

	out = w.play(t, session.Event{Kind: session.ToolFinished, Paths: []session.PathUse{{Path: "/p/src/main.go", Use: session.Edited}, {Path: "/p/b.go", Use: session.Read}}},
		session.Event{Kind: session.CompactionOpened})
	wantLines := []string{"ctxls: working context", "Current file paths in context:", "  - b.go", "  - notes.txt", "  - src/main.go"}
	if diff := cmp.Diff(wantLines, out.Effects[0].Lines); diff != "" {
		t.Errorf("working context (-want +got):\n%s", diff)
	}
	if !out.Session.Compacting {
		t.Error("the session is not shown as compacting")
	}

	before := w.reported(150_000)
	out = w.play(t, session.Event{Kind: session.CompactionDone})
	u := out.Session.Usage
	if *u.Tokens != 48_000 || *u.Provenance != session.ProvenanceEstimate || out.Session.Compactions != 1 || out.Session.Compacting {
		t.Errorf("after the compaction: %d tokens by %s, %d compactions", *u.Tokens, *u.Provenance, out.Session.Compactions)
	}
	out = w.play(t, session.Event{Kind: session.CompactionDone, Accepts: []session.EffectKind{}, CompactedBy: &session.Boundary{Summary: "we edited main.go and read notes.txt."}},
		session.Event{Kind: session.BatchFinished, Reports: []session.Report{before}})
	if got := *out.Session.Usage.Tokens; got != 48_000 {
		t.Errorf("a report from before the compaction counted: %d", got)
	}
	if got := texts(out.Effects); !strings.HasSuffix(got, "does not name:\n  - b.go") {
		t.Errorf("what the summary lost = %q", got)
	}
	if out = w.play(t, w.at(session.BatchFinished, 30_000)); len(out.Effects) != 0 || *out.Session.Usage.Tokens != 30_000 {
		t.Errorf("after the first report: %d tokens, said %q", *out.Session.Usage.Tokens, texts(out.Effects))
	}
	if n := out.Session.Compactions; n != 1 {
		t.Errorf("%d compactions, want 1", n)
	}
}

// A figure that may be one response old is marked as stale.
func TestStale(t *testing.T) {
	w := newTestEnv()
	stale := func(events ...session.Event) bool { return w.play(t, events...).Session.Usage.Stale }
	if stale(w.at(session.BatchFinished, 10_000)) {
		t.Error("right after a report")
	}
	if !stale(session.Event{Kind: session.ToolStarting}) {
		t.Error("the response that called the tool is not in the transcript yet")
	}
	if stale(w.at(session.BatchFinished, 20_000)) {
		t.Error("right after the next report")
	}
	if !stale(session.Event{Kind: session.BatchFinished}) {
		t.Error("a batch whose response is not in the transcript yet")
	}
	if stale(w.at(session.BatchFinished, 25_000)) {
		t.Error("right after that response")
	}
	if !stale(session.Event{Kind: session.TurnFinished}) {
		t.Error("the last response is not in the transcript yet")
	}

	// The transcript may then contain a late response to an older question. The figure is still one response behind.
	late := w.reported(30_000)
	late.At = w.now.Add(time.Millisecond)
	w.now = w.now.Add(time.Minute)
	if !stale(session.Event{Kind: session.PromptSubmitted}, session.Event{Kind: session.TurnFinished, Reports: []session.Report{late}}) {
		t.Error("only the response before the last is in the transcript")
	}
	if stale(w.at(session.TurnFinished, 35_000)) {
		t.Error("right after the last response")
	}
}

func TestEndedSessions(t *testing.T) {
	w := newTestEnv()
	if s := w.play(t, w.at(session.BatchFinished, 10_000), session.Event{Kind: session.SessionEnded}).Session; s.State != StateEnded || s.EndedAt == nil {
		t.Errorf("state = %s", s.State)
	}
	if s := w.play(t, session.Event{Kind: session.UsageReported}).Session; s.State != StateEnded {
		t.Error("a late status line revived the session")
	}
	if s := w.play(t, session.Event{Kind: session.TurnFinished}, session.Event{Kind: session.AgentFinished, AgentID: "a"}).Session; s.State != StateEnded {
		t.Error("a late stop revived the session")
	}
	if s := w.play(t, session.Event{Kind: session.PromptSubmitted}).Session; s.State != StateActive {
		t.Error("a prompt did not revive the session")
	}
	w.now = w.now.Add(session.IdleAfter + time.Second)
	if views, err := w.service().Sessions(t.Context(), SessionFilter{}); err != nil || views[0].State != StateIdle {
		t.Errorf("after silence: %+v, %v", views, err)
	}
	if out := w.play(t, session.Event{Kind: session.SessionDeleted}); !out.Deleted || len(w.sessions) != 0 {
		t.Error("not deleted")
	}
	if out := w.play(t, session.Event{Kind: session.SessionDeleted}); out.Deleted {
		t.Error("deleted twice")
	}
}

func TestPromptsAreKeptOnlyOnRequest(t *testing.T) {
	for _, keep := range []bool{false, true} {
		w := newTestEnv()
		w.cfg.Store.KeepPrompts = keep
		w.play(t, session.Event{Kind: session.PromptSubmitted, Prompt: "größe"})
		if s := w.session(); s.PromptLength != 5 || s.PromptAt.IsZero() || (s.PromptText != "") != keep {
			t.Errorf("keepPrompts %v: %+v", keep, s)
		}
	}
}

// Hooks run in parallel. A transcript line that another hook counted does not count again, and a shorter file starts
// over.
func TestReadingsOverlap(t *testing.T) {
	w := newTestEnv()
	entry := func(offset int64, tokens int) session.Entry {
		rep := w.reported(tokens)
		rep.At = w.now.Add(time.Duration(offset) * time.Millisecond)
		return session.Entry{Offset: offset, At: rep.At, Report: &rep}
	}
	play := func(r session.Reading) {
		st := session.State{Snapshot: session.Snapshot{Session: w.session()}, Known: true, Rules: claudeRules}
		ev := session.Event{Host: session.HostClaudeCode, SessionID: "s", Kind: session.BatchFinished, Reading: &r}
		if err := w.Update(t.Context(), Query{Key: ev.Key()}, func(session.State) session.Changes { ch, _ := session.Reduce(st, ev, w.cfg, w.now); return ch }); err != nil {
			t.Fatal(err)
		}
	}
	w.play(t, session.Event{Kind: session.SessionStarted})
	file := session.Cursor{Device: 1, Inode: 2, Offset: 300}
	play(session.Reading{Cursor: file, Entries: []session.Entry{entry(100, 10_000), entry(200, 20_000)}})
	play(session.Reading{Cursor: session.Cursor{Device: 1, Inode: 2, Offset: 250}, Entries: []session.Entry{entry(100, 10_000), entry(200, 20_000)}})
	play(session.Reading{From: 250, Cursor: session.Cursor{Device: 1, Inode: 2, Offset: 400}, Entries: []session.Entry{entry(260, 25_000), entry(300, 30_000)}})
	if n, cursor := len(w.samples[session.Key{Host: session.HostClaudeCode, SessionID: "s"}]), w.session().Cursor; n != 3 || cursor.Offset != 400 {
		t.Errorf("%d samples, cursor at %d", n, cursor.Offset)
	}
	play(session.Reading{Restarted: true, Cursor: session.Cursor{Device: 1, Inode: 2, Offset: 50}, Entries: []session.Entry{entry(500, 40_000)}})
	if s := w.session(); s.Cursor.Offset != 50 || s.Gauge.Tokens != 40_000 {
		t.Errorf("after a restart: cursor %d, %d tokens", s.Cursor.Offset, s.Gauge.Tokens)
	}
}

// From a compaction to the next response, a status line reports zeros. If no other event reports the compaction, the
// zeros invalidate the earlier figure. They never mean an empty window.
func TestZerosOfAStatusLine(t *testing.T) {
	line := func(tokens int) session.Event {
		return session.Event{Kind: session.UsageReported, Reports: []session.Report{{Tokens: tokens, Tuple: session.UsageTuple{Input: tokens}, Provenance: session.ProvenanceHost}}}
	}
	w := newTestEnv()
	if out := w.play(t, line(150_000), line(0)); out.Session.Usage.Tokens != nil || out.Session.Usage.Percent != nil {
		t.Errorf("after zeros: %+v", out.Session.Usage)
	}
	if out := w.play(t, line(30_000)); *out.Session.Usage.Tokens != 30_000 {
		t.Errorf("after the next response: %d", *out.Session.Usage.Tokens)
	}
	if out := w.play(t, w.at(session.BatchFinished, 40_000), line(0)); *out.Session.Usage.Tokens != 40_000 {
		t.Error("zeros ended what the transcript says")
	}
	if out := w.play(t, session.Event{Kind: session.CompactionDone}, line(0)); *out.Session.Usage.Tokens != 12_800 {
		t.Error("zeros ended the estimate after a compaction")
	}
}

func TestGrowth(t *testing.T) {
	w := newTestEnv()
	for _, tokens := range []int{10_000, 15_000, 30_000} {
		w.play(t, w.at(session.TurnFinished, tokens), session.Event{Kind: session.PromptSubmitted})
	}
	w.play(t, session.Event{Kind: session.CompactionOpened}, session.Event{Kind: session.CompactionDone}, w.at(session.TurnFinished, 12_000), session.Event{Kind: session.PromptSubmitted}, w.at(session.TurnFinished, 13_000), session.Event{Kind: session.PromptSubmitted})
	if diff := cmp.Diff([]int{5_000, 15_000, 1_000}, w.session().Growth); diff != "" {
		t.Errorf("growth (-want +got):\n%s", diff)
	}
}

func TestTurnsAreTasks(t *testing.T) {
	w := newTestEnv()
	// The second turn has a compaction in its middle. Its size includes the tokens from before.
	w.play(t, session.Event{Kind: session.PromptSubmitted}, w.at(session.TurnFinished, 150_000), w.at(session.PromptSubmitted, 210_000), w.at(session.BatchFinished, 50_000),
		session.Event{Kind: session.CompactionOpened}, session.Event{Kind: session.CompactionDone}, w.at(session.TurnFinished, 9_000))
	got := map[string]int{}
	for _, task := range w.tasks {
		got[task.ID] = task.Tokens
	}
	if diff := cmp.Diff(map[string]int{"claude-code/s#1": 210_000, "claude-code/s#2": 50_000}, got); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	if w.alert.At.IsZero() || w.alert.Rate != 1 {
		t.Errorf("alert = %+v", w.alert)
	}
}

// A session's project is the directory where it began. If the agent's shell changes its directory, the project stays,
// and so do the bases of paths and settings.
func TestTheDirectoryOfASession(t *testing.T) {
	w := newTestEnv()
	w.cfg.Tracking.GuardDir = "exists"
	w.play(t, session.Event{Kind: session.SessionStarted, CWD: "/p"}, w.at(session.BatchFinished, 100_000))
	out := w.play(t, session.Event{Kind: session.ToolFinished, CWD: "/p/src", Paths: []session.PathUse{{Path: "/p/src/a.go", Use: session.Read}}})
	if got := w.shown(t); out.Session.CWD != native("/p") || got[0] != "src/a.go" {
		t.Errorf("after cd src the session is in %s, its files %q", out.Session.CWD, got)
	}
	asked := ""
	s := w.service()
	s.Config = func(cwd string) settings.Config { asked = cwd; return w.cfg }
	s.DirExists = func(path string) bool { return path == native("/p/exists") }
	out, err := s.Handle(t.Context(), session.Event{Host: session.HostClaudeCode, SessionID: "s", Kind: session.PromptSubmitted, CWD: "/p/src", Accepts: []session.EffectKind{session.Inject}})
	if err != nil || texts(out.Effects) != "[context used: 50%]" || asked != native("/p") {
		t.Errorf("settings of %q, said %q, %v", asked, texts(out.Effects), err)
	}
	if out = w.play(t, session.Event{Kind: session.SessionStarted, CWD: "/q"}); out.Session.CWD != native("/q") {
		t.Errorf("resumed in /q, the session is in %s", out.Session.CWD)
	}
}

func TestLongSessionIDs(t *testing.T) {
	s := newTestEnv().service()
	for length, want := range map[int]coded.Code{0: coded.Invalid, 1: "", session.MaxID: "", session.MaxID + 1: coded.Invalid} {
		_, err := s.Handle(t.Context(), session.Event{Host: session.HostClaudeCode, SessionID: strings.Repeat("x", length), Kind: session.PromptSubmitted})
		if coded.CodeOf(err) != want {
			t.Errorf("%d bytes: %v", length, err)
		}
	}
}

package core

import (
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/session"
)

// fallen is a host that reports neither compactions nor the agent of a tool call.
var fallen = session.Rules{Provider: "google", Fall: session.FallRule{Percent: 40, Tokens: 10_000}, ToolsUnnamed: true}

func falling(t *testing.T) (w *testEnv, report func(agent string, tokens int) SessionView, tool func(path string) Outcome) {
	w = newTestEnv()
	w.rules[session.HostGeminiCLI] = fallen
	play := func(ev session.Event) Outcome {
		w.now = w.now.Add(time.Second)
		ev.Host, ev.CWD, ev.Accepts = session.HostGeminiCLI, "/p", []session.EffectKind{session.Inject}
		return w.play(t, ev)
	}
	report = func(agent string, tokens int) SessionView {
		rep := session.Report{At: w.now.Add(time.Second), Tuple: session.UsageTuple{Input: tokens}, Tokens: tokens, Provenance: session.ProvenanceReported, Model: "gemini-2.5-pro"}
		return play(session.Event{Kind: session.UsageReported, AgentID: agent, Reports: []session.Report{rep}}).Session
	}
	tool = func(path string) Outcome {
		return play(session.Event{Kind: session.ToolFinished, Paths: []session.PathUse{{Path: path, Use: session.Read}}})
	}
	return w, report, tool
}

// If a host does not report compactions, a large fall between two reports is a compaction. The agent gets the whole
// working set once, and the gauge shows the report.
func TestFallIsACompaction(t *testing.T) {
	for _, tt := range []struct {
		before, after int
		compacted     bool
	}{
		{100_000, 60_000, true}, {100_000, 60_001, false}, {100_000, 20_000, true}, {100_000, 120_000, false},
		{15_000, 5_001, false}, {25_000, 15_000, true}, {16_000, 6_000, true}, {100_000, 1, true},
	} {
		_, report, tool := falling(t)
		tool("/p/a.go")
		report("", tt.before)
		tool("/p/b.go")
		s := report("", tt.after)
		if got := s.Compactions == 1; got != tt.compacted || *s.Usage.Tokens != tt.after || !s.Usage.Exact {
			t.Errorf("%d to %d: %d compactions, %d tokens", tt.before, tt.after, s.Compactions, *s.Usage.Tokens)
		}
		out := tool("/p/c.go")
		const said = "ctxls: working context\nCurrent file paths in context:\n  - a.go\n  - b.go"
		if got := texts(out.Effects); tt.compacted != (got == said) {
			t.Errorf("%d to %d: said %q", tt.before, tt.after, got)
		}
		if out := tool("/p/d.go"); len(out.Effects) > 0 {
			t.Errorf("said again: %q", texts(out.Effects))
		}
		if s := report("", tt.after+100); tt.compacted != (s.Compactions == 1) {
			t.Errorf("the next report: %d compactions", s.Compactions)
		}
	}
}

// A compaction between two sessions of the host is detected too, and several compactions in a row count separately.
func TestFallsInARow(t *testing.T) {
	w, report, _ := falling(t)
	report("", 100_000)
	w.now = w.now.Add(3 * time.Hour)
	report("", 30_000)
	report("", 90_000)
	if s := report("", 20_000); s.Compactions != 2 {
		t.Errorf("%d compactions, want 2", s.Compactions)
	}
	samples := w.samples[session.Key{Host: session.HostGeminiCLI, SessionID: "s"}]
	if n := len(samples); n < 2 || samples[n-2].Kind != session.SampleCompaction || samples[n-2].Tokens != 20_000 {
		t.Errorf("samples %+v", samples)
	}
}

// A sub-agent sends its own reports, and then unmarked tool calls. Neither changes the main chain.
func TestToolsUnnamed(t *testing.T) {
	w, report, tool := falling(t)
	files := func(want int, when string) {
		t.Helper()
		if got := len(w.paths[session.Key{Host: session.HostGeminiCLI, SessionID: "s"}]); got != want {
			t.Errorf("%s: %d files in the working set, want %d", when, got, want)
		}
	}
	report("", 100_000)
	tool("/p/main.go")
	s := report("agent-1", 5_000) // not a fall of the main chain
	if s.Compactions != 0 || *s.Usage.Tokens != 100_000 || len(s.Agents) != 1 || *s.Agents[0].Usage.Tokens != 5_000 {
		t.Errorf("the sub-agent's report: %+v", s)
	}
	tool("/p/inner.go")
	files(1, "while the sub-agent works")
	w.play(t, session.Event{Host: session.HostGeminiCLI, Kind: session.AgentFinished})
	if w.sessions[session.Key{Host: session.HostGeminiCLI, SessionID: "s"}].Agents[0].EndedAt.IsZero() {
		t.Error("the sub-agent has not ended")
	}
	tool("/p/again.go")
	files(2, "after it")
	report("agent-2", 7_000) // and no later event
	w.play(t, session.Event{Host: session.HostGeminiCLI, Kind: session.PromptSubmitted})
	tool("/p/next.go")
	files(3, "in the next turn")
	report("agent-3", 7_000)
	report("", 110_000)
	tool("/p/main2.go")
	files(4, "once the model answered the main chain")
}

package core

import (
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
)

func TestModelAndWindow(t *testing.T) {
	w := newTestEnv()
	window := func(out Outcome) int { return out.Session.Usage.WindowTokens }
	out := w.play(t, session.Event{Kind: session.UsageReported, Model: "claude-opus-4-6[1m]", Limits: model.Limits{WindowTokens: 1_000_000}})
	if window(out) != 1_000_000 {
		t.Errorf("the host's figure: %d", window(out))
	}
	rep := w.at(session.BatchFinished, 150_000)
	rep.Reports[0].Model = "claude-opus-4-6"
	if out = w.play(t, rep); window(out) != 1_000_000 || out.Session.Model != "claude-opus-4-6[1m]" {
		t.Errorf("a transcript's spelling took the suffix away: %d %s", window(out), out.Session.Model)
	}
	rep = w.at(session.BatchFinished, 150_000)
	rep.Reports[0].Model = "claude-sonnet-4-5"
	if out = w.play(t, rep); window(out) != 200_000 {
		t.Errorf("another model kept the window: %d", window(out))
	}
	if out = w.play(t, session.Event{Kind: session.UsageReported, Model: "claude-opus-4-6[1m]"}, session.Event{Kind: session.UsageReported, Model: "claude-opus-4-6"}); window(out) != 200_000 {
		t.Errorf("the host's own spelling did not take the suffix away: %d", window(out))
	}
}

func TestWindowIsLearned(t *testing.T) {
	accepted := func(w *testEnv) Outcome {
		e := w.at(session.BatchFinished, 310_000)
		e.Reports[0].Model = "claude-opus-4-6"
		return w.play(t, e)
	}
	compacted := func(w *testEnv) Outcome {
		return w.play(t, session.Event{Kind: session.SessionStarted, Model: "claude-opus-4-6"},
			session.Event{Kind: session.CompactionDone, CompactedBy: &session.Boundary{ID: "b", At: w.now, PreTokens: 468_102}})
	}
	for name, learn := range map[string]func(*testEnv) Outcome{"accepted": accepted, "compacted": compacted} {
		w := newTestEnv()
		u := learn(w).Session.Usage
		if u.WindowTokens != 1_000_000 || u.WindowProvenance != model.WindowFromLearned || !strings.Contains(u.WindowWhy, name) {
			t.Errorf("%s: %d by %s: %s", name, u.WindowTokens, u.WindowProvenance, u.WindowWhy)
		}
		other := w.play(t, session.Event{Kind: session.SessionStarted, SessionID: "other", Model: "claude-opus-4-6"})
		if got := other.Session.Usage.WindowTokens; got != 1_000_000 {
			t.Errorf("%s: another session of the model has %d", name, got)
		}
	}
	w := newTestEnv()
	u := w.play(t, session.Event{Kind: session.SessionStarted, Model: "claude-opus-4-8"},
		session.Event{Kind: session.TurnFailed, Limit: &session.LimitError{SentTokens: 210_000, MaxTokens: 200_000}}).Session.Usage
	if u.WindowTokens != 200_000 || u.WindowProvenance != model.WindowFromLearned || !strings.Contains(u.WindowWhy, "refused") {
		t.Errorf("refused: %d by %s: %s", u.WindowTokens, u.WindowProvenance, u.WindowWhy)
	}
}

// Of a session whose model nobody has named, as a fork is at first, the window is not known: no share of it is told, a large request
// proves nothing of other sessions, and a refusal is true of this one alone.
func TestModelThatIsNotNamed(t *testing.T) {
	w := newTestEnv()
	fork := session.Event{Kind: session.SessionStarted, Reports: []session.Report{{Tokens: 300_000, Provenance: session.ProvenanceHost}}}
	w.play(t, fork)
	if out := w.play(t, session.Event{Kind: session.PromptSubmitted}); len(out.Effects) > 0 || *out.Session.Usage.Tokens != 300_000 {
		t.Errorf("said %q, usage %+v", texts(out.Effects), out.Session.Usage)
	}
	if out := w.play(t, session.Event{Kind: session.TurnFailed, Limit: &session.LimitError{MaxTokens: 180_000}}); out.Session.Usage.WindowTokens != 180_000 || out.Session.Usage.WindowProvenance != model.WindowFromLearned {
		t.Errorf("after a refusal: %+v", out.Session.Usage)
	}
	if view, err := w.service().Session(t.Context(), session.Key{Host: session.HostClaudeCode, SessionID: "s"}); err != nil || view.Usage.WindowTokens != 180_000 {
		t.Errorf("looked at: %+v, %v", view.Usage, err)
	}
	if out := w.play(t, session.Event{SessionID: "other", Kind: session.PromptSubmitted}); out.Session.Usage.WindowTokens != 200_000 || len(w.learned) > 0 {
		t.Errorf("another session: %+v, learned %v", out.Session.Usage, w.learned)
	}
	if out := w.play(t, w.at(session.BatchFinished, 140_000)); out.Session.Usage.WindowTokens != 200_000 || texts(out.Effects) == "" {
		t.Errorf("named: %+v, said %q", out.Session.Usage, texts(out.Effects))
	}
}

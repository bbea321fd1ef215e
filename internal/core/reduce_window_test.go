package core

import (
	"strings"
	"testing"
	"time"

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
		e.Reports[0].Model, e.Reports[0].Requested = "claude-opus-4-6", "claude-opus-4-6"
		return w.play(t, e)
	}
	compacted := func(w *testEnv) Outcome {
		return w.play(t, session.Event{Kind: session.UsageReported, Model: "claude-opus-4-6"},
			session.Event{Kind: session.CompactionDone, CompactedBy: &session.Boundary{ID: "b", At: w.now, PreTokens: 468_102}})
	}
	for name, learn := range map[string]func(*testEnv) Outcome{"accepted": accepted, "compacted": compacted} {
		w := newTestEnv()
		u := learn(w).Session.Usage
		if u.WindowTokens != 1_000_000 || u.WindowProvenance != model.WindowFromLearned || !strings.Contains(u.WindowWhy, name) {
			t.Errorf("%s: %d by %s: %s", name, u.WindowTokens, u.WindowProvenance, u.WindowWhy)
		}
		other := w.play(t, session.Event{Kind: session.UsageReported, SessionID: "other", Model: "claude-opus-4-6"})
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

// A session with the long window, whose record omits the suffix, runs beside a plain session. Evidence of the first
// affects only the first.
func TestWhatOneSessionProvesHoldsForOthersOfItsKind(t *testing.T) {
	w := newTestEnv()
	large := w.at(session.BatchFinished, 310_000)
	large.Reports[0].Model = "claude-sonnet-4-6"
	if u := w.play(t, large).Session.Usage; u.WindowTokens != 1_000_000 || *u.Percent != 31 {
		t.Fatalf("the session itself: %+v", u)
	}
	plain := w.at(session.BatchFinished, 150_000)
	plain.SessionID, plain.Reports[0].Model = "plain", "claude-sonnet-4-6"
	if u := w.play(t, plain).Session.Usage; u.WindowTokens != 200_000 || len(w.learned) > 0 {
		t.Errorf("a plain one beside it: %+v, learned %v", u, w.learned)
	}
	// If both sessions have the complete ID, they share the evidence: for example, an account whose plain model has the
	// long window.
	large.Reports[0].Requested = "claude-sonnet-4-6"
	large.Reports[0].Tokens, large.Reports[0].Tuple.Input, large.Reports[0].At = 310_500, 310_500, w.now.Add(time.Second)
	large.SessionID = "spelled"
	w.play(t, large)
	plain.Reports[0].Requested, plain.Reports[0].At = "claude-sonnet-4-6", w.now.Add(time.Second)
	if u := w.play(t, plain).Session.Usage; u.WindowTokens != 1_000_000 {
		t.Errorf("of the same kind: %+v", u)
	}
	// If the host itself then states another window, the new window holds for all sessions at once.
	if u := w.play(t, session.Event{Kind: session.UsageReported, SessionID: "plain", Model: "claude-sonnet-4-6", Limits: model.Limits{WindowTokens: 200_000}}).Session.Usage; u.WindowTokens != 200_000 {
		t.Errorf("after a status line: %+v", u)
	}
	if u := w.play(t, session.Event{Kind: session.UsageReported, SessionID: "later", Model: "claude-sonnet-4-6"}).Session.Usage; u.WindowTokens != 200_000 {
		t.Errorf("a later session: %+v", u)
	}
}

// A learned window can shrink: an automatic compaction near a smaller point proves that point for the session.
func TestAutomaticCompactionProvesASmallerPoint(t *testing.T) {
	compacted := func(w *testEnv, pre int) Outcome {
		w.now = w.now.Add(time.Minute)
		return w.play(t, session.Event{Kind: session.BatchFinished, Reading: &session.Reading{Cursor: session.Cursor{Device: 1, Inode: 1, Offset: 9}, Entries: []session.Entry{{Boundary: &session.Boundary{ID: "b", At: w.now, PreTokens: pre, Automatic: true}}}}})
	}
	w := newTestEnv()
	large := w.at(session.BatchFinished, 310_000)
	large.Reports[0].Model, large.Reports[0].Requested = "claude-sonnet-4-6", "claude-sonnet-4-6"
	w.play(t, large)
	small := w.at(session.BatchFinished, 166_000)
	small.SessionID, small.Reports[0].Model, small.Reports[0].Requested = "small", "claude-sonnet-4-6", "claude-sonnet-4-6"
	w.play(t, session.Event{SessionID: "small", Kind: session.UsageReported, Model: "claude-sonnet-4-6"})
	if u := w.play(t, small).Session.Usage; u.WindowTokens != 1_000_000 {
		t.Fatalf("before: %+v", u)
	}
	w.now = w.now.Add(time.Minute)
	ev := session.Event{SessionID: "small", Kind: session.BatchFinished, Reading: &session.Reading{Cursor: session.Cursor{Device: 1, Inode: 1, Offset: 9}, Entries: []session.Entry{{Boundary: &session.Boundary{ID: "b", At: w.now, PreTokens: 167_400, Automatic: true}}}}}
	if u := w.play(t, ev).Session.Usage; u.WindowTokens != 200_000 || *u.CompactionTokens != 167_000 || *u.Tokens != 53_568 {
		t.Errorf("after: window %d, compacts at %v, %d tokens", u.WindowTokens, u.CompactionTokens, *u.Tokens)
	}
	w = newTestEnv()
	own := w.at(session.BatchFinished, 400_000)
	own.Reports[0].Model = "claude-sonnet-5"
	w.play(t, own)
	if u := compacted(w, 402_000).Session.Usage; u.WindowTokens != 1_000_000 || *u.CompactionTokens != 402_000 {
		t.Errorf("a window that somebody set: %d, compacts at %v", u.WindowTokens, u.CompactionTokens)
	}
	if u := w.play(t, session.Event{Kind: session.SessionStarted, Settings: &model.Settings{Window: 600_000}}).Session.Usage; *u.CompactionTokens != 567_000 {
		t.Errorf("settings that are known by now: compacts at %v", u.CompactionTokens)
	}
}

// A single absurd figure teaches nothing and is not shown. Learned windows expire after a month.
func TestWhatIsLearnedIsPlausibleAndExpires(t *testing.T) {
	spelled := func(w *testEnv, id string, tokens int) Outcome {
		w.now = w.now.Add(time.Second)
		e := w.at(session.BatchFinished, tokens)
		e.SessionID, e.Reports[0].Model, e.Reports[0].Requested = id, "claude-sonnet-4-6", "claude-sonnet-4-6"
		return w.play(t, e)
	}
	w := newTestEnv()
	if u := spelled(w, "s", 999_000_003).Session.Usage; u.Tokens != nil || u.WindowTokens > 1_000_000 || len(w.learned) > 0 {
		t.Errorf("absurd: %+v, learned %v", u, w.learned)
	}
	w.play(t, session.Event{Kind: session.TurnFailed, Limit: &session.LimitError{MaxTokens: 5}}, session.Event{Kind: session.TurnFailed, Limit: &session.LimitError{MaxTokens: 900_000_000}})
	if u := spelled(w, "s", 100_000).Session.Usage; u.WindowTokens != 200_000 || len(w.learned) > 0 {
		t.Errorf("absurd refusals: %+v, learned %v", u, w.learned)
	}
	spelled(w, "s", 310_000)
	spelled(w, "t", 99_000)
	if u := spelled(w, "t", 100_000).Session.Usage; u.WindowTokens != 1_000_000 {
		t.Errorf("learned: %+v", u)
	}
	w.now = w.now.Add(30*24*time.Hour + time.Minute)
	if u := spelled(w, "t", 101_000).Session.Usage; u.WindowTokens != 200_000 {
		t.Errorf("after a month: %+v", u)
	}
	// No report is shown against a smaller window, whatever the host stated before.
	w.play(t, session.Event{Kind: session.UsageReported, SessionID: "t", Model: "claude-sonnet-4-6", Limits: model.Limits{WindowTokens: 200_000}})
	if u := spelled(w, "t", 260_000).Session.Usage; u.WindowTokens != 1_000_000 {
		t.Errorf("above what the host stated: %+v", u)
	}
}

// If no event named the session's model, as in a new fork, the window is unknown. The model gets no share, a large
// request proves nothing about other sessions, and a refusal affects only this session.
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

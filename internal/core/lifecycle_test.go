package core

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
)

// generic is a session of a user's own agent, with the data that the agent reported.
func (w *testEnv) generic(t *testing.T) session.Key {
	t.Helper()
	w.play(t, session.Event{Host: session.HostGeneric, Kind: session.ToolFinished, CWD: "/p", Paths: []session.PathUse{{Path: "/p/a.go", Use: session.Edited}, {Path: "/p/b.go", Use: session.Read}}})
	return session.Key{Host: session.HostGeneric, SessionID: "s"}
}

func TestCompactingAndCompacted(t *testing.T) {
	w := newTestEnv()
	key := w.generic(t)
	working, err := w.service().Compacting(t.Context(), session.Key{SessionID: key.SessionID})
	if diff := cmp.Diff(session.WorkingContext{Paths: []string{"a.go", "b.go"}}, working); err != nil || diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
	view, lost, err := w.service().Compacted(t.Context(), key, session.Boundary{ID: "1", Summary: "a.go was changed", PostTokens: 9000})
	if err != nil || view.Compacting || view.Compactions != 1 || *view.Usage.Tokens != 9000 || !cmp.Equal(lost, []string{"b.go"}) {
		t.Errorf("%+v, %v, %v", view, lost, err)
	}
	if view, _, err = w.service().Compacted(t.Context(), key, session.Boundary{ID: "1", PostTokens: 5}); err != nil || view.Compactions != 1 || *view.Usage.Tokens != 9000 {
		t.Errorf("a repeat: %+v, %v", view, err)
	}
}

// The caller's clock can be coarse or wrong. An open compaction is closed all the same, and no report with a time in the
// future is needed.
func TestCompactedAtAnImpossibleTime(t *testing.T) {
	for name, off := range map[string]time.Duration{"before the opening": -time.Hour, "in the future": 1000 * time.Hour} {
		w := newTestEnv()
		key := w.generic(t)
		if _, err := w.service().Compacting(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		w.now = w.now.Add(time.Second)
		view, _, err := w.service().Compacted(t.Context(), key, session.Boundary{ID: "1", At: w.now.Add(off)})
		if err != nil || view.Compacting || view.Compactions != 1 {
			t.Errorf("%s: %+v, %v", name, view, err)
		}
		report := w.at(session.TurnFinished, 20_000)
		report.Host = session.HostGeneric
		if out := w.play(t, report); *out.Session.Usage.Tokens != 20_000 {
			t.Errorf("%s: the next report does not count: %+v", name, out.Session.Usage)
		}
	}
}

func TestCallsAboutUnknownSessions(t *testing.T) {
	w := newTestEnv()
	nobody := session.Key{Host: session.HostCodex, SessionID: "nobody"}
	if _, err := w.service().Compacting(t.Context(), nobody); coded.CodeOf(err) != coded.NotFound {
		t.Errorf("compacting: %v", err)
	}
	if _, _, err := w.service().Compacted(t.Context(), nobody, session.Boundary{}); coded.CodeOf(err) != coded.NotFound {
		t.Errorf("compacted: %v", err)
	}
	if deleted, err := w.service().Delete(t.Context(), nobody); deleted || err != nil {
		t.Errorf("deleted: %v, %v", deleted, err)
	}
	if len(w.sessions) != 0 {
		t.Errorf("asking made a session: %v", w.sessions)
	}
	if _, err := w.service().Handle(t.Context(), session.Event{Host: "emacs", SessionID: "s"}); coded.CodeOf(err) != coded.Invalid {
		t.Errorf("a host nobody knows: %v", err)
	}
}

func TestDelete(t *testing.T) {
	w := newTestEnv()
	key := w.generic(t)
	w.play(t, session.Event{Kind: session.PromptSubmitted}) // the same ID under another host
	if _, err := w.service().Delete(t.Context(), session.Key{SessionID: "s"}); coded.CodeOf(err) != coded.Invalid {
		t.Errorf("of two: %v", err)
	}
	for _, want := range []bool{true, false} {
		if deleted, err := w.service().Delete(t.Context(), key); deleted != want || err != nil {
			t.Errorf("%v, %v, want %v", deleted, err, want)
		}
	}
	if _, there := w.sessions[session.Key{Host: session.HostClaudeCode, SessionID: "s"}]; !there {
		t.Error("the other host's session went with it")
	}
}

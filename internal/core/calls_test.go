package core

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
)

// reading is a reading of one more line of the transcript.
func (w *testEnv) reading(lines ...session.Entry) *session.Reading {
	at := w.session().Cursor.Offset
	for i := range lines {
		lines[i].Offset = at + int64(i)
	}
	return &session.Reading{From: at, Cursor: session.Cursor{Device: 1, Inode: 1, Offset: at + int64(len(lines))}, Entries: lines}
}

// shown is the working set in a client's view.
func (w *testEnv) shown(t *testing.T) []string {
	t.Helper()
	s, err := w.service().Session(t.Context(), w.session().Key())
	if err != nil {
		t.Fatal(err)
	}
	return s.WorkingSet
}

// A call, its result and the host's hooks can arrive in any order. A failed call uses no file. A call that succeeded, or
// whose result is unknown, uses its files.
func TestFailedCallsUseNoFile(t *testing.T) {
	use := func(call string) []session.PathUse {
		return []session.PathUse{{Path: "/p/" + call, Use: session.Read, CallID: call}}
	}
	sights := map[string]func(w *testEnv) session.Event{
		"line of bad": func(w *testEnv) session.Event {
			return session.Event{Kind: session.BatchFinished, Reading: w.reading(session.Entry{Paths: use("bad")})}
		},
		"line of good": func(w *testEnv) session.Event {
			return session.Event{Kind: session.BatchFinished, Reading: w.reading(session.Entry{Paths: use("good")})}
		},
		"hook": func(w *testEnv) session.Event {
			return session.Event{Kind: session.BatchFinished, Paths: slices.Concat(use("bad"), use("good"), use("silent"))}
		},
		"result of bad": func(w *testEnv) session.Event {
			return session.Event{Kind: session.BatchFinished, Reading: w.reading(session.Entry{Results: []session.CallResult{{CallID: "bad", Failed: true}}})}
		},
		"result of good": func(w *testEnv) session.Event {
			return session.Event{Kind: session.BatchFinished, Reading: w.reading(session.Entry{Results: []session.CallResult{{CallID: "good", Failed: false}}})}
		},
		"all": func(w *testEnv) session.Event { // the result is already in the file when the hook runs
			return session.Event{Kind: session.BatchFinished, Paths: slices.Concat(use("bad"), use("good")),
				Reading: w.reading(session.Entry{Paths: use("bad")}, session.Entry{Paths: use("good")}, session.Entry{Results: []session.CallResult{{CallID: "bad", Failed: true}, {CallID: "good", Failed: false}}})}
		},
		"failure": func(w *testEnv) session.Event {
			return session.Event{Kind: session.ToolFinished, Results: []session.CallResult{{CallID: "bad", Failed: true}}}
		},
	}
	names := []string{"line of bad", "line of good", "hook", "result of bad", "result of good", "all", "failure"}
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		t.Run(fmt.Sprint(names), func(t *testing.T) {
			w := newTestEnv()
			for _, name := range names {
				w.play(t, sights[name](w))
			}
			w.play(t, session.Event{Kind: session.PromptSubmitted})
			got := w.shown(t)
			slices.Sort(got)
			if want := []string{"good", "silent"}; !slices.Equal(got, want) {
				t.Errorf("working set %q, want %q", got, want)
			}
			if held := w.session().Held; len(held) != 0 {
				t.Errorf("held after the turn: %+v", held)
			}
		})
	}
}

// As soon as the results of a batch are known, the working set has the files of the calls that succeeded.
func TestUsesAreRecordedWithTheResult(t *testing.T) {
	w := newTestEnv()
	paths := []session.PathUse{{Path: "/p/no", Use: session.Edited, CallID: "1"}, {Path: "/p/yes", Use: session.Read, CallID: "2"}}
	w.play(t, session.Event{Kind: session.BatchFinished, Paths: paths})
	if got := w.shown(t); len(got) != 0 {
		t.Errorf("before the results: %q", got)
	}
	w.play(t, session.Event{Kind: session.TurnFinished, Reading: w.reading(session.Entry{Results: []session.CallResult{{CallID: "1", Failed: true}, {CallID: "2", Failed: false}}})})
	if got, want := w.shown(t), []string{"yes"}; !slices.Equal(got, want) {
		t.Errorf("after them: %q", got)
	}
}

// A later failure does not remove a file that was used before.
func TestFailureTakesNothingElseAway(t *testing.T) {
	w := newTestEnv()
	w.play(t, session.Event{Kind: session.PromptSubmitted, Prompt: "see @src/a.go"}, session.Event{Kind: session.ToolFinished, Paths: []session.PathUse{{Path: "/p/b.go", Use: session.Read}}})
	w.play(t, session.Event{Kind: session.ToolStarting, Paths: []session.PathUse{{Path: "/p/src/a.go", Use: session.Mentioned, CallID: "1"}, {Path: "/p/b.go", Use: session.Mentioned, CallID: "2"}}},
		session.Event{Kind: session.ToolFinished, Results: []session.CallResult{{CallID: "1", Failed: true}, {CallID: "2", Failed: true}}})
	if got, want := w.shown(t), []string{"b.go", "src/a.go"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A compaction does not wait for results. A host that never sends results costs at most MaxHeld.
func TestHeldUses(t *testing.T) {
	w := newTestEnv()
	for i := range session.MaxHeld + 1 {
		w.play(t, session.Event{Kind: session.ToolStarting, Paths: []session.PathUse{{Path: fmt.Sprintf("/p/%03d", i), Use: session.Read, CallID: fmt.Sprint(i)}}})
	}
	if s := w.session(); len(s.Held) != session.MaxHeld || len(w.workingSet(s.Key())) != 1 {
		t.Errorf("%d held, %d in the working set", len(s.Held), len(w.workingSet(s.Key())))
	}
	out := w.play(t, session.Event{Kind: session.CompactionOpened})
	if want := fmt.Sprintf("  - %03d", session.MaxHeld); !slices.Contains(out.Effects[0].Lines, want) {
		t.Errorf("the summariser is not told of the last one: %q", out.Effects[0].Lines)
	}
	w.play(t, session.Event{Kind: session.SessionEnded})
	if s := w.session(); len(w.workingSet(s.Key())) != session.MaxHeld+1 || len(s.Held) != 0 {
		t.Errorf("at the end: %d in the working set, %d held", len(w.workingSet(s.Key())), len(s.Held))
	}
}

package core

import (
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The split of a transcript into readings does not matter, and neither do parallel hooks that read the same lines. The
// gauge, the projection and the learned factors are the same. The reported figure always comes from a report.
func TestReadingsLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		write := func(w *testEnv) *file {
			f, input := &file{w: w}, 20_000
			for _, n := range rapid.SliceOfN(rapid.IntRange(0, 3), 1, 12).Draw(rt, "responses") {
				id, call := rapid.StringN(6, 6, -1).Draw(rt, "id"), rapid.StringN(4, 4, -1).Draw(rt, "call")
				f.answers(id, input, n*100, session.Piece{Class: session.Thought, Bytes: n * 400}, session.Piece{Class: session.ToolCall, Tool: "Bash", CallID: call, Text: wordsOf(40)})
				f.adds(session.Piece{Class: session.ToolResult, CallID: call, Text: wordsOf(rapid.IntRange(0, 3000).Draw(rt, "result"))})
				if n == 1 {
					f.adds(session.Piece{Class: session.PromptText, Text: wordsOf(60)})
				}
				input += rapid.IntRange(100, 5000).Draw(rt, "growth")
			}
			return f
		}
		whole := newCountingEnv()
		f := write(whole)
		all := len(f.entries)
		parts := newCountingEnv()
		parts.now = whole.now
		g := &file{w: parts, entries: f.entries}
		whole.play(t, f.read(0, all))
		for to := 0; to < all; {
			from := rapid.IntRange(0, to).Draw(rt, "from")
			to = rapid.IntRange(from, all).Draw(rt, "to")
			parts.play(t, g.read(from, to))
			to = int(parts.session().Cursor.Offset)
			if u := parts.session().Gauge; u.Known && u.Tokens < 20_000 {
				rt.Fatalf("a figure that nobody reported: %+v", u)
			}
		}
		a, b := whole.session(), parts.session()
		a.Gauge.Behind, b.Gauge.Behind = false, false // returns the number of batches
		if diff := cmp.Diff(a.Gauge, b.Gauge); diff != "" {
			rt.Fatalf("gauge (-whole +parts):\n%s", diff)
		}
		if diff := cmp.Diff(a.Tail, b.Tail); diff != "" {
			rt.Fatalf("tail (-whole +parts):\n%s", diff)
		}
		if diff := cmp.Diff(whole.taught, parts.taught); diff != "" {
			rt.Fatalf("learned (-whole +parts):\n%s", diff)
		}
	})
}

// Repeated history counts once.
func TestHistoryCountsOnce(t *testing.T) {
	w := newCountingEnv()
	w.rules[session.HostGeneric] = session.Rules{Silent: true}
	for range 3 {
		out := w.play(t, session.Event{Host: session.HostGeneric, Kind: session.HistorySeen, Content: []session.Piece{{Class: session.InjectedText, Text: wordsOf(1000)}}, Paths: []session.PathUse{{Path: "/p/a.go", Use: session.Read}}})
		if got := *out.Session.Usage.Tokens; got != 1008 {
			t.Errorf("%d tokens, want 1008", got)
		}
	}
}

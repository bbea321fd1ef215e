//go:build linux && e2e

package claudecode

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/test/e2e"
)

// A compaction on the user's request, with compaction.tellSummarizer. The summarizer gets the files in use, and the
// gauge falls. Claude Code shows PreCompact's output and passes it to the model. So the model has the lost files again,
// and ctxls does not repeat them.
func TestManualCompaction(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{"work": work(), "small": {{Tokens: 30_000, Text: "On it."}}})
	w.Env = append(w.Env, "CTXLS_COMPACTION_TELL_SUMMARIZER=true")
	w.install()
	w.prompt(one, "[[work]] please look around", "--allowedTools", "Bash")
	w.prompt(one, "/compact")
	context := "ctxls: working context\nCurrent file paths in context:\n  - notes.txt\n  - src/main.go\n  - src/util.go"
	if texts := strings.Join(e2e.TextsOfRequest(w.model.Last("summary")), "\n"); strings.Count(texts, context) != 1 {
		t.Errorf("the summariser was not given the working context:\n%s", texts[max(0, len(texts)-3000):])
	}
	s, _ := w.Session(one)
	if s.Compactions != 1 || s.Usage.Tokens == nil || *s.Usage.Tokens > 60_000 || s.Usage.Exact {
		t.Errorf("after the compaction: %d compactions, %+v", s.Compactions, s.Usage)
	}
	w.WantRecords("after the compaction")
	w.prompt(one, "[[small]] go on")
	wantSaid(t, "after the compaction", w.model.Last("small"))
	if got := w.Tokens(one); got != 30_000 {
		t.Errorf("the gauge says %d", got)
	}
	w.prompt(one, "[[small]] go on")
	wantSaid(t, "the prompt after that", w.model.Last("small"), mark(15))
	wantTold(t, w.model.Last("small"), map[string]int{"notes.txt": 1, "src/main.go": 1, "src/util.go": 1})
}

// dim removes the escape sequences that Claude Code writes around the lines that it shows.
var dim = strings.NewReplacer("\x1b[2m", "", "\x1b[22m", "", "</local-command-stdout>", "")

// wantTold checks how often a request names files in the texts of ctxls, at any position.
func wantTold(t *testing.T, r e2e.Request, want map[string]int) {
	t.Helper()
	ours := said(r)
	for _, text := range e2e.TextsOfRequest(r) {
		ours = append(ours, shown.FindAllString(text, -1)...)
	}
	got := map[string]int{}
	for line := range strings.SplitSeq(dim.Replace(strings.Join(ours, "\n")), "\n") {
		if file, ok := strings.CutPrefix(line, "  - "); ok {
			got[file]++
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("how often the model is told of files (-want +got):\n%s", diff)
	}
}

// The host compacts by itself between a prompt and its request. The prompt contains a mark from before the compaction.
func TestMarkIsCorrectedAfterACompaction(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{
		"fill":  {{Tokens: 90_000, Calls: []e2e.Call{read("src/main.go")}}, {Tokens: 168_000, Text: "Filled."}},
		"small": {{Tokens: 41_000, Text: "On it."}},
	})
	w.install()
	w.prompt(one, "[[fill]] read it all")
	w.prompt(one, "[[small]] go on")
	if s, _ := w.Session(one); s.Compactions != 1 {
		t.Fatalf("%d compactions", s.Compactions)
	}
	const before, outdated = "[context used: 84%]", "ctxls: the [context used] mark of this prompt is from before the compaction. The window holds much less now; the next mark shows how much."
	texts := strings.Join(e2e.TextsOfRequest(w.model.Last("small")), "\n")
	if !strings.Contains(texts, before) || strings.Count(texts, outdated) != 1 {
		t.Errorf("the request after the compaction holds the mark %q: %v, its correction %d times, want once", before, strings.Contains(texts, before), strings.Count(texts, outdated))
	}
	w.prompt(one, "[[small]] go on")
	if texts := strings.Join(said(w.model.Last("small")), "\n"); strings.Count(texts, outdated) != 1 || !strings.Contains(texts, mark(21)) {
		t.Errorf("the model was told %q", texts)
	}
}

// The host compacts by itself within a turn. By default the summarizer gets no text.
func TestAutomaticCompaction(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{
		"fill": {
			{Tokens: 90_000, Calls: []e2e.Call{read("src/main.go"), read("src/util.go")}},
			{Tokens: 191_000, Calls: []e2e.Call{read("notes.txt")}},
			{Tokens: 40_000, Text: "Filled."},
		},
		"small": {{Tokens: 41_000, Text: "On it."}},
	})
	w.install()
	w.prompt(one, "[[fill]] read it all")
	if texts := strings.Join(e2e.TextsOfRequest(w.model.Last("summary")), "\n"); strings.Contains(texts, "ctxls: working context") {
		t.Errorf("the summarizer was given the working context:\n%s", texts[max(0, len(texts)-3000):])
	}
	if s, _ := w.Session(one); s.Compactions != 1 {
		t.Errorf("%d compactions", s.Compactions)
	}
	if got := w.Tokens(one); got > 41_000 {
		t.Errorf("the gauge says %d", got)
	}
	w.prompt(one, "[[small]] go on")
	w.prompt(one, "[[small]] go on")
	if texts := strings.Join(e2e.TextsOfRequest(w.model.Last("small")), "\n"); strings.Contains(texts, "Current file paths in context") {
		t.Error("the model was given the whole working context")
	}
	wantTold(t, w.model.Last("small"), map[string]int{"src/main.go": 1, "src/util.go": 1})
}

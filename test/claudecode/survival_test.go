//go:build linux && e2e

package claudecode

import (
	"strings"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// The second summary loses an instruction of the first window. The first request after the second compaction quotes it,
// once. The summarizer's own requests do not.
func TestWordsSurviveTwoCompactions(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{
		"work":  {{Tokens: 60_000, Calls: []e2e.Call{{Tool: "Bash", Input: map[string]any{"command": "wc notes.txt && uname -s -m", "description": "x"}}}}, {Tokens: 62_000, Text: "Done."}},
		"small": {{Tokens: 30_000, Text: "On it."}},
	})
	w.install()
	const instruction = "Never edit files below gen/ by hand, please."
	w.prompt(one, "[[work]] "+instruction, "--allowedTools", "Bash")
	w.prompt(one, "/compact")
	w.prompt(one, "[[small]] look at the parser of the project")
	w.prompt(one, "[[small]] look at the lexer of the project")
	w.prompt(one, "/compact")
	if s, _ := w.Session(one); s.Compactions != 2 {
		t.Fatalf("%d compactions", s.Compactions)
	}
	w.prompt(one, "[[small]] go on")
	texts := strings.Join(e2e.TextsOfRequest(w.model.Last("small")), "\n")
	if n := strings.Count(texts, instruction+`"`); n != 1 || !strings.Contains(texts, "Earlier in this session the user wrote:") {
		t.Errorf("the first request after the second compaction quotes the instruction %d times, want once:\n%s", n, texts[max(0, len(texts)-6000):])
	}
	if strings.Count(texts, "`uname -s -m` (1x, ") == 0 {
		t.Errorf("the command is not named:\n%s", texts[max(0, len(texts)-6000):])
	}
	if summary := strings.Join(e2e.TextsOfRequest(w.model.Last("summary")), "\n"); strings.Contains(summary, "Earlier in this session the user wrote:") {
		t.Error("the summarizer was given the words")
	}
}

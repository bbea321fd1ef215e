//go:build linux && e2e

package claudecode

import (
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// While a sub-agent works, the host lists it below the prompt with the row from ctxls: the share of its own window.
func TestAgentRows(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{
		"work": {
			{Tokens: 50_000, Calls: []e2e.Call{{Tool: "Agent", Input: map[string]any{"description": "look at the cart", "prompt": "[[inner]] look around",
				"subagent_type": "general-purpose", "run_in_background": true}}}},
			{Tokens: 51_000, Text: "Started."},
		},
		"inner": {{Tokens: 46_000, Calls: []e2e.Call{read("notes.txt")}}, {Hang: true}},
	})
	w.install("--agents")
	term := openTerminal(w, 160, 40)
	enters(t, term, "[[work]] go", "look at the cart · ██░░░░░░│░ 23% · 46k/200k · 121k to compaction · claude-sonnet-4-6")
}

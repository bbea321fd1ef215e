//go:build linux && e2e

package claudecode

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/test/e2e"
)

// A session with all kinds of actions: tools, also in parallel, a failing tool, a sub-agent, and both kinds of
// compaction. With ctxls the model gets the same requests as without, except for the texts of ctxls.
func TestNothingElseChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	converse := func(install bool) *testEnv {
		for _, name := range []string{"home", "project"} {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		w := newTestEnvAt(t, dir, map[string][]e2e.Reply{
			"work": {
				{Tokens: 100_000, Text: "Reading.", Calls: []e2e.Call{read("notes.txt")}},
				// Beside each other, but one file only: after a compaction the host lists files in the order in which they were read.
				{Tokens: 141_000, Calls: []e2e.Call{read("src/main.go"), {Tool: "Bash", Input: map[string]any{"command": "echo hello", "description": "Greet"}}}},
				{Tokens: 143_000, Text: "Done."},
			},
			"delegate": {
				{Tokens: 144_000, Calls: []e2e.Call{{Tool: "Agent", Input: map[string]any{"description": "look", "prompt": "[[inner]] look around",
					"subagent_type": "general-purpose", "run_in_background": false}}}},
				{Tokens: 145_000, Calls: []e2e.Call{read("nosuch.txt"), read("notes.txt")}},
				{Tokens: 146_000, Text: "Delegated."},
			},
			"inner": {{Tokens: 20_000, Calls: []e2e.Call{read("src/util.go")}}, {Tokens: 21_000, Text: "Found it."}},
			"fill":  {{Tokens: 90_000, Calls: []e2e.Call{read("src/main.go")}}, {Tokens: 191_000, Calls: []e2e.Call{read("notes.txt")}}, {Tokens: 40_000, Text: "Filled."}},
			"small": {{Tokens: 41_000, Calls: []e2e.Call{read("notes.txt")}}, {Tokens: 42_000, Text: "On it."}},
		})
		if install {
			w.install("--statusline")
		}
		for _, prompt := range []string{"[[work]] please look around", "[[delegate]] have it looked at", "/compact", "[[small]] go on", "[[fill]] read it all", "[[small]] and on"} {
			w.prompt(one, prompt, "--allowedTools", "Bash")
		}
		return w
	}
	without, with := converse(false), converse(true)
	for kind, n := range map[string]int{"work": 3, "delegate": 3, "inner": 2, "summary": 2} {
		if got := len(with.model.Asked(kind)); got != n {
			t.Errorf("%d requests of the kind %s, want %d: %v", got, kind, n, with.model.Kinds())
		}
	}
	wantSame(t, without, with)
}

// wantSame checks that the model got the same requests in two environments, except for the texts of ctxls.
func wantSame(t *testing.T, without, with *testEnv) {
	t.Helper()
	if diff := cmp.Diff(without.model.Kinds(), with.model.Kinds()); diff != "" {
		t.Fatalf("requests (-without +with):\n%s", diff)
	}
	for i, r := range with.model.Requests() {
		if diff := cmp.Diff(essence(without.model.Requests()[i]), essence(r)); diff != "" {
			t.Errorf("request %d (%s) differs by more than what ctxls says (-without +with):\n%s", i, r.Kind, diff)
		}
	}
}

// budget is Claude Code's own note, which it adds to the last of several results.
var budget = regexp.MustCompile(`<system-reminder>\n<total_tokens>.*</total_tokens>\n</system-reminder>\n*`)

// echoed is Claude Code's own text for the model about our hooks after /compact.
var echoed = regexp.MustCompile(`\nPreCompact \[.*ctxls hook claude-code\] completed successfully\nPostCompact \[.*ctxls hook claude-code\] completed successfully</local-command-stdout>`)

// random is the part of Claude Code's text about a sub-agent that differs in every run.
var random = regexp.MustCompile(`(agentId: |to: '|duration_ms: )\w+`)

// essence is a request without the texts of ctxls and without parts that differ between runs: the device's ID, the
// cache marks on the last block, the order in which parallel tools ended, and names and times of sub-agents.
func essence(r e2e.Request) any {
	text := func(s string) string {
		s = echoed.ReplaceAllString(framed.ReplaceAllString(s, ""), "</local-command-stdout>")
		return strings.TrimRight(budget.ReplaceAllString(random.ReplaceAllString(s, "$1"), ""), " \t\n")
	}
	list := func(blocks []any) any {
		blocks = e2e.WithoutEmptyTexts(blocks)
		slices.SortStableFunc(blocks, func(a, b any) int { return strings.Compare(resultOf(a), resultOf(b)) })
		if len(blocks) == 1 { // one block of text is sent as a string, too
			if block, ok := blocks[0].(map[string]any); ok && len(block) == 2 && block["type"] == "text" {
				return block["text"]
			}
		}
		return blocks
	}
	return e2e.Rewrite(r.Body, text, list, "cache_control", "metadata")
}

// resultOf returns the call that a block is the result of, "" for any other block.
func resultOf(block any) string {
	b, _ := block.(map[string]any)
	id, _ := b["tool_use_id"].(string)
	return id
}

//go:build linux && e2e

package opencode

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

var cleared = regexp.MustCompile(`^\[tool result cleared by ctxls: \d+ tokens\]$`)

// The model's requests follow the plan. If a file was written after a read, the read's result is left out as soon as
// that pays, and stays out of all later requests. The host keeps the whole conversation. After an undo, or with pruning
// off, the model gets the result again.
func TestPrune(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("the first version of the file, line by line, and more of it\n", 300)
	answers := []e2e.Reply{{Tokens: 30_000, Text: "Sure."}}
	w := newTestEnv(t, scripts{
		"mend": {
			{Tokens: 20_000, Calls: []e2e.Call{read("old.txt")}},
			{Tokens: 26_000, Calls: []e2e.Call{{Tool: "write", Input: map[string]any{"filePath": "$PROJECT/old.txt", "content": "new\n"}}}},
			{Tokens: 26_100, Text: "Mended."},
		},
		"one": answers, "two": answers, "three": answers, "four": answers, "five": answers, "six": answers,
	})
	settings := filepath.Join(w.Home, ".config", "ctxls", "config.json")
	w.Write(settings, `{"prune": {"enabled": true}, "tracking": {"maxTokens": null}}`)
	w.Write(filepath.Join(w.Project, "old.txt"), text)
	// The server may take longer than 300 ms on a busy machine.
	w.Env = append(w.Env, "CTXLS_WAIT=30000")
	w.install()
	w.serve()
	session := w.session("prune")

	// The read's result, as the model last received it.
	got := func(kind string) string {
		t.Helper()
		w.prompt(session, "[["+kind+"]] go on")
		of := w.model.Asked(kind)
		all := results(of[len(of)-1])
		if len(all) != 2 || !strings.Contains(all[1], "rote") {
			t.Fatalf("%s: the results are %q", kind, all)
		}
		return all[0]
	}
	if full := got("mend"); !strings.Contains(full, "the first version") {
		t.Fatalf("the newest results went: %q", full)
	}
	// Its three responses are among the newest four at first.
	pruned := ""
	for _, kind := range []string{"one", "two", "three", "four"} {
		result := got(kind)
		switch {
		case cleared.MatchString(result) && (pruned == "" || result == pruned):
			pruned = result
		case pruned != "" || !strings.Contains(result, "the first version"):
			t.Fatalf("%s: after %q came %q", kind, pruned, result)
		}
	}
	if pruned == "" {
		t.Fatal("nothing was left out")
	}
	if kept := string(w.raw("GET", "/session/"+session+"/message", nil)); !strings.Contains(kept, "the first version") || strings.Contains(kept, "cleared by ctxls") {
		t.Error("the host has not kept the conversation as it was")
	}
	if said := w.CTXLS("plan", "--undo", session); !strings.HasPrefix(said, "1 part back") {
		t.Errorf("undoing says %q", said)
	}
	if result := got("five"); !strings.Contains(result, "the first version") {
		t.Errorf("undone, the model received %q", result)
	}

	// Another session, with pruning switched off in its midst.
	session = w.session("off")
	w.Write(filepath.Join(w.Project, "old.txt"), text)
	got("mend")
	for _, kind := range []string{"one", "two", "three", "four"} {
		pruned = got(kind)
	}
	if !cleared.MatchString(pruned) {
		t.Errorf("the second session's model received %.60q", pruned)
	}
	w.Write(settings, `{"prune": {"enabled": false}, "tracking": {"maxTokens": null}}`)
	if result := got("six"); !strings.Contains(result, "the first version") {
		t.Errorf("switched off, the model received %q", result)
	}
}

package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What an agent is given back of its own session is sanitized, within its budget, and from before the last compaction alone.
func TestRecall(t *testing.T) {
	s := newService(t)
	path, err := filepath.Abs("../testdata/records/compacted.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	told(t, s, `{"session_id":"s1","cwd":"/home/me/a","transcript_path":"`+filepath.ToSlash(path)+`","hook_event_name":"Stop"}`)
	p := connect(t, Options{Service: s, Folders: []string{"/home/me/a"}})
	p.greet(`{}`)
	got := p.call("recall", `{"query":"gen files written"}`).text()
	for _, want := range []string{"before its last compaction: 3 lines, ", "[result of Bash, 2026-11-21T08:03:00Z, 8 tokens]", "gen: 3 files  written", "[user, 2026-11-21T08:01:00Z, 12 tokens]"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.ContainsRune(got, '\u202e') {
		t.Errorf("not sanitized: %q", got)
	}
	if got := p.call("recall", `{"query":"gen","maxTokens":1}`).text(); !strings.Contains(got, "none of them within maxTokens") {
		t.Errorf("over the budget: %s", got)
	}
	if got := p.call("recall", `{"query":"gen","limit":0}`).text(); !strings.Contains(got, "limit: expected a whole number from 1 to 100") {
		t.Errorf("a limit of 0: %s", got)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

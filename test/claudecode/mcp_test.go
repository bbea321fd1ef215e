//go:build linux && e2e

package claudecode

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/test/e2e"
)

// Claude Code adds the server with its own command, offers the tools to the model, and passes on their results. The
// model gets its own session, though another session in the same directory is newer.
func TestMCP(t *testing.T) {
	var w *testEnv
	w = newTestEnv(t, map[string][]e2e.Reply{
		"look": {
			{Tokens: 100_000, Text: "Reading.", Calls: []e2e.Call{read("notes.txt")}},
			// A file is known to be read when the transcript has the result, which the host writes in its own time.
			{Tokens: 120_000, Calls: []e2e.Call{read("src/main.go")}, Before: func() { w.recorded(one, "alpha") }},
			{Tokens: 139_000, Calls: []e2e.Call{
				{Tool: "Bash", Input: map[string]any{"command": another, "description": "Have another session"}},
				{Tool: "mcp__ctxls__inspect_state", Input: map[string]any{}}, {Tool: "mcp__ctxls__measure_context", Input: map[string]any{"text": "hello world"}},
			}},
			{Tokens: 140_000, Calls: []e2e.Call{{Tool: "mcp__ctxls__measure_context", Input: map[string]any{"txt": "hello world"}}}},
			{Tokens: 141_000, Text: "Done."},
		},
	})
	w.install()
	if out, err := w.Command(t.Context(), e2e.HostBin(), "mcp", "add", "ctxls", "--", "ctxls", "mcp").CombinedOutput(); err != nil {
		t.Fatalf("claude mcp add: %v\n%s", err, out)
	}
	if out, err := w.Command(t.Context(), e2e.HostBin(), "mcp", "list").CombinedOutput(); err != nil || !strings.Contains(string(out), "Connected") {
		t.Errorf("claude mcp list: %v\n%s", err, out)
	}
	printed := w.prompt(one, "[[look]] how much room is left?", "--allowedTools", "Bash,mcp__ctxls__inspect_state,mcp__ctxls__measure_context")

	asked := w.model.Asked("look")
	if len(asked) != 5 {
		t.Fatalf("the model was asked %v\n%s", w.model.Kinds(), printed)
	}
	results := toolResults(asked[4])
	all := strings.Join(results, "\n---\n")
	var in core.Inspection
	var m conversation.Measurement
	for _, result := range results { // the calls of one batch, in the order of their ends
		if strings.HasPrefix(result, `{"report":`) && json.Unmarshal([]byte(result), &in) != nil || strings.HasPrefix(result, `{"tokens":`) && json.Unmarshal([]byte(result), &m) != nil {
			t.Errorf("the model reads %s", result)
		}
	}
	if in.Session == nil || in.Session.SessionID != one || in.Session.Usage.Tokens == nil || *in.Session.Usage.Tokens < 100_000 || !in.Session.Usage.Exact ||
		!slices.Contains(in.Session.WorkingSet, "notes.txt") || len(in.Sessions) != 2 || in.Sessions[0].SessionID != two {
		t.Errorf("of the state the model reads %+v in\n%s", in, all)
	}
	if m.Tokens != 2 {
		t.Errorf("of the measure the model reads %+v in\n%s", m, all)
	}
	if last := results[len(results)-1]; len(results) != 6 || !strings.HasPrefix(last, "txt: there is no such argument; expected one of ") {
		t.Errorf("of a wrong argument the model reads %s in\n%s", last, all)
	}
	w.model.Forget() // the tools' results contain texts of ctxls, as they should
}

// another is a hook of another session in the same directory.
const another = `echo '{"session_id":"` + two + `","cwd":"'$PWD'","hook_event_name":"UserPromptSubmit","prompt":"hello"}' | CLAUDE_PID= ctxls hook claude-code`

// toolResults returns what tools returned in the conversation that a request carries, in order, without what Claude Code adds.
func toolResults(r e2e.Request) (results []string) {
	messages, _ := r.Body["messages"].([]any)
	for _, message := range messages {
		blocks, _ := message.(map[string]any)["content"].([]any)
		for _, block := range blocks {
			if b, ok := block.(map[string]any); ok && b["type"] == "tool_result" {
				result, _, _ := strings.Cut(strings.Join(e2e.TextsOf(b["content"]), "\n"), "\n\n<system-reminder>")
				results = append(results, result)
			}
		}
	}
	return results
}

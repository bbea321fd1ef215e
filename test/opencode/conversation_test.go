//go:build linux && e2e

package opencode

import (
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// work crosses 70 % of the window with its third step.
func work() []e2e.Reply {
	return []e2e.Reply{
		{Tokens: 100_000, Text: "Reading.", Calls: []e2e.Call{read("notes.txt")}},
		{Tokens: 139_000, Calls: []e2e.Call{read("src/main.go"), read("src/util.go")}},
		{Tokens: 141_000, Calls: []e2e.Call{{Tool: "edit", Input: map[string]any{"filePath": "$PROJECT/notes.txt", "oldString": "alpha", "newString": "ALPHA"}}}},
		{Tokens: 142_000, Calls: []e2e.Call{read("notes.txt")}},
		{Tokens: 143_000, Text: "Done."},
	}
}

func TestSmoke(t *testing.T) {
	w := newWorld(t, scripts{"work": work(), "more": {{Tokens: 144_000, Text: "More."}}})
	w.install()
	w.serve()
	s := w.session("one")
	t.Log(w.prompt(s, "[[work]] look"))
	t.Log(w.servers())
	w.wantTokens(s, 143_077)
	t.Log(w.prompt(s, "[[more]] look"))
	w.wantTokens(s, 144_077)
	for _, r := range w.model.Asked("") {
		t.Log(r.Kind, e2e.TextsOf(r.Body["messages"]))
	}
	t.Log(w.CTXLS("sessions", "--all", "--json"))
}

//go:build linux && e2e

package claudecode

import (
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// The picture of docs/getting-started/claude-code.md: the screen of a user who installed ctxls with the status line.
func TestPicture(t *testing.T) {
	shop := e2e.NewShop(t)
	w := newTestEnvOf(shop, map[string][]e2e.Reply{"": {
		{Tokens: 118_000, Calls: []e2e.Call{
			{Tool: "Read", Input: map[string]any{"file_path": shop.Project + "/src/cart/store.ts"}}, {Tool: "Read", Input: map[string]any{"file_path": shop.Project + "/src/cart/server.ts"}}}},
		{Tokens: 139_000, Calls: []e2e.Call{{Tool: "Edit", Input: map[string]any{"file_path": shop.Project + "/src/cart/store.ts",
			"old_string": "all.get(user) ?? []", "new_string": "all.get(user) ?? all.set(user, []).get(user)!"}}}},
		{Tokens: 143_000, Text: "Done: a cart is kept from its first item on. It was a new array at each look, so nothing stayed in it."},
	}})
	w.install("--statusline")
	term := openTerminal(w, 110, 28)
	term.Shows("? · ?/200k")
	enters(t, term, "Carts are empty after a reload. Why?", "Done:")
	term.Picture("claude-code", "Done:", "72% · 143k/200k · ~24k to compaction · ", "claude-sonnet-4-6")
}

//go:build linux && e2e

package gemini

import (
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// The picture of docs/getting-started/gemini-cli.md: Gemini CLI, and ctxls in the lines below it.
func TestPicture(t *testing.T) {
	shop := e2e.NewShop(t)
	w := newTestEnvOf(shop, map[string][]reply{"": {
		{tokens: 290_000, calls: []call{{"read_file", map[string]any{"file_path": shop.Project + "/src/cart/store.ts"}}}},
		{tokens: 305_000, calls: []call{{"replace", map[string]any{"file_path": shop.Project + "/src/cart/store.ts", "instruction": "keep the cart",
			"old_string": "all.get(user) ?? []", "new_string": "all.get(user) ?? all.set(user, []).get(user)!"}}}},
		{tokens: 312_000, text: "Done: a cart is kept from its first item on. It was a new array at each look, so nothing stayed in it."},
	}})
	w.install()
	term := openTerminal(w, 110, 45)
	term.Shows("Type your message")
	term.Below(6, e2e.CTXLSBin()+" sessions --watch")
	enters(t, term, "Carts are empty after a reload. Why?", "Done:")
	term.Picture("gemini-cli", "Done:", "gemini-cli", "shop", "30%", "312k/1.05M")
}

//go:build linux && e2e

package codex

import (
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// The pictures of docs/getting-started/codex.md: Codex's question about new hooks, and then Codex with ctxls in the
// lines below it.
func TestPicture(t *testing.T) {
	w := newTestEnvOf(e2e.NewShop(t), map[string][]reply{"": {
		{tokens: 150_000, calls: []call{run("cat src/cart/store.ts")}},
		{tokens: 186_000, calls: []call{patch("*** Update File: src/cart/store.ts", "@@", "-  of: (user: string) => all.get(user) ?? [],",
			"+  of: (user: string) => all.get(user) ?? all.set(user, []).get(user)!,")}},
		{tokens: 193_800, text: "Done: a cart is kept from its first item on. It was a new array at each look, so nothing stayed in it."},
	}})
	w.install()
	term := e2e.OpenTerminal(w.Sandbox, 110, 34, e2e.HostBin())
	term.Picture("codex-hooks", "Hooks need review", "8 hooks are new or changed", "Trust all and continue")
	choose(t, term, "2. Trust all and continue")
	choose(t, term, "2. Use existing model")
	term.Shows("? for shortcuts")
	term.Below(6, e2e.CTXLSBin()+" sessions --watch")
	term.Enter("Carts are empty after a reload. Why?")
	term.Picture("codex", "Edited", "Done:", "codex", "shop", "75%", "194k/258k")
}

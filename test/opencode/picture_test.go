//go:build linux && e2e

package opencode

import (
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// The picture of docs/getting-started/opencode.md: OpenCode, and ctxls in the lines below it. OpenCode shows the whole path of
// the project, so here it sees the project at a place that looks the same wherever this runs.
func TestPicture(t *testing.T) {
	const at = "/mnt/shop"
	w := newTestEnvOf(e2e.NewShop(t), scripts{"": {
		{Tokens: 118_000, Calls: []e2e.Call{{Tool: "read", Input: map[string]any{"filePath": at + "/src/cart/store.ts"}}, {Tool: "read", Input: map[string]any{"filePath": at + "/src/cart/server.ts"}}}},
		{Tokens: 139_000, Calls: []e2e.Call{{Tool: "edit", Input: map[string]any{"filePath": at + "/src/cart/store.ts",
			"oldString": "all.get(user) ?? []", "newString": "all.get(user) ?? all.set(user, []).get(user)!"}}}},
		{Tokens: 143_000, Text: "Done: a cart is kept from its first item on. It was a new array at each look, so nothing stayed in it."},
	}})
	w.install()
	term := e2e.OpenTerminal(w.Sandbox, 110, 38, "unshare -m sh -c 'mount -t tmpfs none /mnt && mkdir "+at+" && mount --bind . "+at+" && cd "+at+" && exec "+e2e.HostBin()+"'")
	term.Shows("Ask anything")
	term.Below(6, e2e.CTXLSBin()+" sessions --watch")
	term.Enter("Carts are empty after a reload. Why?")
	term.Picture("opencode", "Done:", at, "opencode", "shop", "72%", "143k/200k")
}

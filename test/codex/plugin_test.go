//go:build linux && e2e

package codex

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// The repository is a marketplace of Codex. Codex itself installs the plugin, which has the same effect as the installed
// hooks.
func TestPlugin(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"more": {{tokens: 196_000, text: "More."}}})
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), e2e.Patience)
	defer cancel()
	for _, command := range [][]string{{"plugin", "marketplace", "add", root}, {"plugin", "add", "ctxls@ctxls"}} {
		if out, err := w.Command(ctx, e2e.HostBin(), command...).CombinedOutput(); err != nil {
			t.Fatalf("codex %v: %v\n%s", command, err, out)
		}
	}
	first := w.prompt("", "[[more]] go", bypass)
	w.prompt(first.session, "[[more]] go on", bypass)
	wantSaid(t, "second turn", w.model.Last("more"), guidance, mark(76))
}

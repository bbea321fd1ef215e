//go:build linux && e2e

package claudecode

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// The repository is a marketplace of Claude Code. It warns of nothing, the plugin is installed from it in two steps and in one, and
// the installed plugin does what the installed hooks do.
func TestMarketplace(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, commands := range map[string][][]string{
		"in two steps": {{"plugin", "marketplace", "add", root}, {"plugin", "install", "ctxls@ctxls"}},
		"in one step":  {{"plugin", "install", "ctxls", "--marketplace", root}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestEnv(t, map[string][]e2e.Reply{"more": {{Tokens: 144_000, Text: "More."}}})
			for _, command := range commands {
				w.run(command...)
			}
			w.prompt(one, "[[more]] go")
			w.prompt(one, "[[more]] go")
			wantSaid(t, "second turn", w.model.Last("more"), guidance, mark(72))
		})
	}
	t.Run("without a warning", func(t *testing.T) {
		w := newTestEnv(t, nil)
		for _, dir := range []string{root, filepath.Join(root, "adapters", "claude-code")} {
			if said := w.run("plugin", "validate", dir); !strings.Contains(said, "Validation passed") || strings.Contains(strings.ToLower(said), "warning") {
				t.Errorf("%s:\n%s", dir, said)
			}
		}
	})
}

// run runs a command of Claude Code itself, and returns what it printed.
func (w *testEnv) run(args ...string) string {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), e2e.Patience)
	defer cancel()
	out, err := w.Command(ctx, e2e.HostBin(), args...).CombinedOutput()
	if err != nil {
		w.T.Fatalf("claude %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

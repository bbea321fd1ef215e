//go:build linux && e2e

package claudecode

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/test/e2e"
)

// The plugin has the same effect as the installed hooks.
func TestPlugin(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{"work": work(), "more": {{Tokens: 144_000, Text: "More."}}})
	plugin, err := filepath.Abs("../../adapters/claude-code")
	if err != nil {
		t.Fatal(err)
	}
	w.prompt(one, "[[work]] please look around", "--allowedTools", "Bash", "--plugin-dir", plugin)
	w.prompt(one, "[[more]] go on", "--plugin-dir", plugin)
	wantSaid(t, "second turn", w.model.Last("more"), guidance, reminder, mark(72))
}

// The plugin runs beside installed hooks. Both run, and the second finds that the prompt has its mark.
func TestPluginBesideInstall(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{"more": {{Tokens: 144_000, Text: "More."}}})
	plugin, err := filepath.Abs("../../adapters/claude-code")
	if err != nil {
		t.Fatal(err)
	}
	w.install("--user")
	w.prompt(one, "[[more]] go", "--plugin-dir", plugin)
	w.prompt(one, "[[more]] go", "--plugin-dir", plugin)
	wantSaid(t, "second turn", w.model.Last("more"), guidance, mark(72))
}

// Installed for the user and for the project, ctxls still gives each text once.
func TestInstalledTwice(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{"more": {{Tokens: 144_000, Text: "More."}}})
	w.install("--user")
	w.install("--local")
	w.prompt(one, "[[more]] go")
	w.prompt(one, "[[more]] go")
	wantSaid(t, "second turn", w.model.Last("more"), guidance, mark(72))
}

// After a whole session of Claude Code, uninstalling restores its settings.
func TestUninstall(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{"more": {{Tokens: 144_000, Text: "More."}}})
	mine := "{\n  \"permissions\": {\"allow\": [\"Bash(ls:*)\"]},\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}\n}\n"
	w.Write(w.settings(), mine)
	w.install()
	w.prompt(one, "[[more]] go")
	w.CTXLS("uninstall", "claude-code")
	got, err := os.ReadFile(w.settings())
	if err != nil || string(got) != mine {
		t.Errorf("%v, settings (-want +got):\n%s", err, cmp.Diff(mine, string(got)))
	}
	w.prompt(one, "[[more]] go")
	wantSaid(t, "after uninstalling", w.model.Last("more"), guidance)
}

// One variable turns ctxls off for a host that is started with it.
func TestDisabled(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{"more": {{Tokens: 144_000, Text: "More."}}})
	w.install()
	w.Env = append(w.Env, "CTXLS_DISABLE=1")
	w.prompt(one, "[[more]] go")
	wantSaid(t, "with ctxls turned off", w.model.Last("more"))
	for _, s := range w.Sessions() { // the host's record of it exists all the same
		if s.Source != core.SourceRecord {
			t.Errorf("a hook told of %+v", s)
		}
	}
}

package claudecode

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The plugin registers exactly what install does, with ctxls looked up on the PATH.
func TestPluginIsWhatInstallDoes(t *testing.T) {
	plugin, err := os.ReadFile("../../../adapters/claude-code/hooks/hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	installed, _, err := Host.Installer.Install("hooks.json", nil, "ctxls", false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(installed), string(plugin)); diff != "" {
		t.Errorf("adapters/claude-code/hooks/hooks.json (-install +plugin):\n%s", diff)
	}
}

//go:build linux && e2e

package gemini

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// The extension, installed by Gemini CLI itself, does what the installed hooks do.
func TestExtension(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"more": {{tokens: 755_000, text: "More."}}})
	extension, err := filepath.Abs("../../adapters/gemini-cli")
	if err != nil {
		t.Fatal(err)
	}
	w.Write(filepath.Join(w.Home, ".gemini", "trustedFolders.json"), `{"`+w.Project+`": "TRUST_FOLDER", "`+extension+`": "TRUST_FOLDER"}`) // else it asks
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), e2e.Patience)
	defer cancel()
	if out, err := w.Command(ctx, node, e2e.HostBin(), "extensions", "install", extension, "--consent").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	w.prompt(one, "[[more]] go")
	w.prompt(one, "[[more]] go on")
	wantSaid(t, "second turn", w.model.Last("more"), guidance+"\n\n[context used: 72%]")
}

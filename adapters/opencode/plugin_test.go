package opencode

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The plugin is tested where it runs, in JavaScript and against the real ctxls: ctxls.test.mjs.
func TestPlugin(t *testing.T) {
	node, err := node()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	bin := filepath.Join(t.TempDir(), "ctxls")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", bin, "../../cmd/ctxls").CombinedOutput(); err != nil {
		t.Fatalf("building ctxls: %v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "--test", "ctxls.test.mjs")
	cmd.Env = append(os.Environ(), "CTXLS_BIN="+bin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("a conversation: the mark with the prompt")) {
		t.Errorf("the tests did not run:\n%s", out)
	}
}

// node returns Node.js in a version that has a test runner.
func node() (string, error) {
	path, err := exec.LookPath("node")
	if err != nil {
		return "", err
	}
	out, err := exec.Command(path, "--version").Output()
	var major int
	if _, scan := fmt.Sscanf(string(out), "v%d.", &major); err != nil || scan != nil || major < 20 {
		return "", fmt.Errorf("node %s is too old, want 20 or later", strings.TrimSpace(string(out)))
	}
	return path, nil
}

// OpenCode takes every function that a module exports for a plugin, and install fills in one line.
func TestSource(t *testing.T) {
	for line, times := range map[string]int{"\nexport ": 1, "\nconst INSTALLED = \"\" // ": 1, "// ctxls plugin for OpenCode.": 1, "import ": 3} {
		if got := strings.Count(string(Plugin), line); got != times {
			t.Errorf("%q stands %d times in the plugin, want %d", line, got, times)
		}
	}
}

package pi

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

// The extension is tested where it runs, in JavaScript and against the real ctxls: ctxls.test.mjs.
func TestExtension(t *testing.T) {
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
	if !bytes.Contains(out, []byte("a conversation: usage, the mark, a compaction")) {
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

// pi takes what a module exports as default, and install fills in one line.
func TestSource(t *testing.T) {
	for line, times := range map[string]int{"\nexport default function ": 1, "\nconst INSTALLED = \"\" // ": 1, "// ctxls extension for pi.": 1, "import ": 3} {
		if got := strings.Count(string(Extension), line); got != times {
			t.Errorf("%q stands %d times in the extension, want %d", line, got, times)
		}
	}
}

// Package adaptertest tests what ctxls gives to hosts that run JavaScript.
package adaptertest

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

// Run runs ctxls.test.mjs of the current directory with Node.js, against the real ctxls, whose path it finds in CTXLS_BIN. The
// output must hold the name of one of its tests, so that a file without tests fails. Where there is no Node.js the test is
// skipped, but not in CI.
func Run(t *testing.T, name string) {
	t.Helper()
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
	if !bytes.Contains(out, []byte(name)) {
		t.Errorf("the tests did not run:\n%s", out)
	}
}

// node returns the path of Node.js in a version that has a test runner.
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

// Occurrences checks how often each text occurs in a source.
func Occurrences(t *testing.T, source []byte, want map[string]int) {
	t.Helper()
	for text, times := range want {
		if got := bytes.Count(source, []byte(text)); got != times {
			t.Errorf("%q occurs %d times in the source, want %d", text, got, times)
		}
	}
}

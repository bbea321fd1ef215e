// Package testuser lets a test that runs as root see what an ordinary user sees.
package testuser

import (
	"os"
	"path/filepath"
	"testing"
)

// Forbid takes all permissions from a file in a directory of t.TempDir, and lets everybody into the directory, so that nothing but the
// file itself is out of reach.
func Forbid(t testing.TB, path string) {
	t.Helper()
	dir := filepath.Dir(path)
	for name, mode := range map[string]os.FileMode{path: 0, dir: 0o755, filepath.Dir(dir): 0o755} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
}

//go:build unix

package config_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/testuser"
)

// Opening a FIFO without a writer would block, and opening a device can have any effect.
func TestNeverOpensSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	workspace, user := filepath.Join(dir, ".ctxls.json"), filepath.Join(dir, "config.json")
	for _, path := range []string{workspace, user} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, problems := load(t, dir, config.Sources{UserFile: user, CWD: dir})
	want := "config.json: cannot be read: not a regular file\n.ctxls.json: cannot be read: not a regular file"
	if problems != want {
		t.Errorf("problems: %s\nwant: %s", problems, want)
	}
	_, problems = load(t, dir, config.Sources{UserFile: os.DevNull})
	if want := "/dev/null: cannot be read: not a regular file"; problems != want {
		t.Errorf("problems: %s\nwant: %s", problems, want)
	}
}

// Files that another user puts beside or above a workspace are ignored. So is another user's link to a file of ours.
func TestForeignFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	path, target := filepath.Join(dir, ".ctxls.json"), filepath.Join(dir, "target.json")
	const want = ".ctxls.json: warning: belongs to another user: ignored"

	writeString(t, path, levels)
	give(t, path)
	if got, problems := load(t, dir, config.Sources{CWD: dir}); problems != want || got[0] != 50 {
		t.Errorf("a file: levels %v, problems %q, want %q", got, problems, want)
	}

	os.Remove(path)
	writeString(t, target, levels)
	symlink(t, "target.json", path)
	if got, problems := load(t, dir, config.Sources{CWD: dir}); problems != "" || got[0] != 20 {
		t.Errorf("our link to our file: levels %v, problems %q", got, problems)
	}
	give(t, path)
	if got, problems := load(t, dir, config.Sources{CWD: dir}); problems != want || got[0] != 50 {
		t.Errorf("their link to our file: levels %v, problems %q, want %q", got, problems, want)
	}
}

// A file without read permission is a problem, and a missing file is not.
func TestForbiddenFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.json")
	writeString(t, path, levels)
	testuser.Forbid(t, path)
	testuser.WithoutPrivilege(t, func() {
		if _, problems := load(t, dir, config.Sources{UserFile: path}); problems != "config.json: cannot be read: permission denied" {
			t.Errorf("problems: %s", problems)
		}
	})
}

// give makes another user the owner of path, without following a link.
func give(t *testing.T, path string) {
	t.Helper()
	if err := os.Lchown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
}

package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/coded"
)

func mustOpen(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFileFollowsLinksAndKeepsTheMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles", "claude.json"), filepath.Join(dir, "settings.json")
	if err := os.Mkdir(filepath.Dir(real), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(real, []byte("{}"), 0o640), os.Chmod(real, 0o640)); err != nil { // whatever the umask
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("dotfiles", "claude.json"), link); err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, link)
	if err := f.Replace([]byte(`{"a": 1}`), true); err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(link); err != nil || target != filepath.Join("dotfiles", "claude.json") {
		t.Errorf("the link is now %q, %v", target, err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is now %v, %v", info.Mode(), err)
	}
	if got := contents(t, real); got != `{"a": 1}` {
		t.Errorf("the file holds %s", got)
	}
	if got := contents(t, f.BackupPath()); got != "{}" {
		t.Errorf("the backup holds %s", got)
	}
	if entries, _ := os.ReadDir(filepath.Dir(real)); len(entries) != 2 {
		t.Errorf("left beside it: %v", entries)
	}

	// A link that leads nowhere yet: the file appears where it leads.
	dangling := filepath.Join(dir, "dangling.json")
	if err := os.Symlink(filepath.Join(dir, "new", "settings.json"), dangling); err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, dangling).Replace([]byte("{}"), true); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, filepath.Join(dir, "new", "settings.json")); got != "{}" {
		t.Errorf("the file holds %s", got)
	}

	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(loop); coded.CodeOf(err) != coded.Invalid {
		t.Errorf("a loop of links: %v", err)
	}
}

func TestFileRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); coded.CodeOf(err) != coded.Invalid {
		t.Errorf("a directory: %v", err)
	}
	path := filepath.Join(dir, "settings.json")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, path)
	if err := os.WriteFile(path, []byte(`{"theme": "dark"}`), 0o600); err != nil { // the host, meanwhile
		t.Fatal(err)
	}
	if err := f.Replace([]byte(`{"a": 1}`), true); coded.CodeOf(err) != coded.Unavailable {
		t.Errorf("replacing a file that changed: %v", err)
	}
	if err := f.Remove(); coded.CodeOf(err) != coded.Unavailable {
		t.Errorf("removing a file that changed: %v", err)
	}
	if got := contents(t, path); got != `{"theme": "dark"}` {
		t.Errorf("the file holds %s", got)
	}
	if err := os.Remove(path); err != nil { // as a host that is about to put a new one in its place
		t.Fatal(err)
	}
	if err := f.Replace([]byte(`{"a": 1}`), true); !errors.Is(err, ErrChanged) {
		t.Errorf("replacing a file that is gone: %v", err)
	}
	if err := f.Remove(); !errors.Is(err, ErrChanged) {
		t.Errorf("removing a file that is gone: %v", err)
	}
}

// Qwen Code moves its settings aside and then puts new ones in their place. Between the two there is no file, but there are settings.
func TestAFileThatIsMovedAsideIsWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	aside := path + ".orig"
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		for {
			err := errors.Join(os.Rename(path, aside), os.Rename(aside, path))
			select {
			case <-stop:
				done <- err
				return
			default:
			}
			time.Sleep(20 * time.Microsecond)
		}
	}()
	for range 5000 {
		if f := mustOpen(t, path); string(f.Text) != "{}" {
			t.Fatalf("%q", f.Text)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// What was not there before is not there after.
func TestFileRemovesWhatItMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".claude", "settings.json")
	if err := mustOpen(t, path).Replace([]byte("{}"), true); err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, path)
	if before := f.Before(); before != nil {
		t.Errorf("a backup of nothing: %q", before)
	}
	if err := f.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("the directory: %v", err)
	}
}

// A directory that was there before stays, though nothing is in it.
func TestFileLeavesDirectoriesOfOthers(t *testing.T) {
	for made, name := range []string{"settings.json", filepath.Join("b", "settings.json")} {
		dir := filepath.Join(t.TempDir(), "a")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := mustOpen(t, path).Replace([]byte("{}"), true); err != nil {
			t.Fatal(err)
		}
		if err := mustOpen(t, path).Remove(); err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Errorf("%d directories were made: %v, %v", made, entries, err)
		}
	}
}

// A host that writes into the file that install made keeps it. Nothing of ctxls stays beside it.
func TestForgetLeavesNothingBesideAFileThatStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "settings.json")
	if err := mustOpen(t, path).Replace([]byte(`{"hooks": "ctxls"}`), true); err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, path)
	if err := errors.Join(f.Replace([]byte(`{"$version": 3}`), false), f.Forget()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 || entries[0].Name() != "settings.json" {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
}

// Root edits the settings of others, too: the file stays theirs, and so is the backup.
func TestFileKeepsItsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := errors.Join(os.WriteFile(path, []byte("{}"), 0o600), os.Chown(path, 65534, 12), os.Chmod(path, 0o640)); err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, path)
	if err := f.Replace([]byte(`{"a": 1}`), true); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, f.BackupPath()} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%v %v", info.Mode(), owner(info)); got != "-rw-r----- 65534:12" {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// What stands in the backup's place in a repository may be anything.
func TestABackupThatIsNoFileIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := makeFIFO(path + backupSuffix); err != nil {
		t.Skip(err)
	}
	if before := mustOpen(t, path).Before(); before != nil {
		t.Errorf("%q", before)
	}
}

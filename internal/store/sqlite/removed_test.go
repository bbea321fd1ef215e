package sqlite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
)

// Users remove, truncate and replace the files of a state while a server has them open. In each case other processes can
// write at once, and later updates of the server are in the files that others read.
func TestFilesRemovedBesideAServer(t *testing.T) {
	remove := func(suffixes ...string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			for _, suffix := range suffixes {
				if err := os.Remove(path + suffix); inTheWay(err) {
					t.Skip("Windows keeps a file that is mapped into memory: ", err)
				} else if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for name, harm := range map[string]func(t *testing.T, path string){
		"the database":          remove(""),
		"database and log":      remove("", "-wal"),
		"database and index":    remove("", "-shm"),
		"all three":             remove("", "-wal", "-shm"),
		"the log":               remove("-wal"),
		"the index":             remove("-shm"),
		"log and index":         remove("-wal", "-shm"),
		"the lock":              remove(".lock"),
		"the database, emptied": func(t *testing.T, path string) { truncate(t, path) },
		"the database, swapped": func(t *testing.T, path string) {
			other := logged(t)
			if err := os.Rename(other, path); inTheWay(err) {
				t.Skip("Windows puts no file in the place of one that is open: ", err)
			} else if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			server, _ := reporting(t, path)
			for i := range 20 {
				if err := hookEvent(t.Context(), server, i); err != nil {
					t.Fatal(err)
				}
			}
			harm(t, path)
			// Other processes can work at once, while the server is idle.
			for range 3 {
				if outputs := together(t, 1, "open", path); outputs[0] != "" && !strings.HasPrefix(outputs[0], "reported: ") {
					t.Error(outputs[0])
				}
			}
			// Other processes can read the server's acknowledged updates.
			before := counted(t, path)
			if before < 3 {
				t.Errorf("%d of 3 updates of others are there", before)
			}
			if err := countOne(t.Context(), server); err != nil {
				t.Fatal(err)
			}
			if after := counted(t, path); after != before+1 {
				t.Errorf("the server's update is not there: %d, want %d", after, before+1)
			}
			if in := Inspect(t.Context(), path, true); len(in.Damage) > 0 || in.Unreadable != nil {
				t.Errorf("%v %v", in.Damage, in.Unreadable)
			}
		})
	}
}

// An idle server opens the new files by itself, within a second.
func TestAnIdleServerNoticesThatItsFilesAreGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	server, _ := reporting(t, path)
	if err := hookEvent(t.Context(), server, 1); err != nil {
		t.Fatal(err)
	}
	wake := server.Watch(t.Context())
	time.Sleep(5 * settleTime)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	select {
	case <-wake:
	case <-time.After(5 * time.Second): // the promise is slowPoll; a busy machine may be late
		t.Fatal("it does not notice")
	}
	if slowPoll > time.Second {
		t.Errorf("it looks every %v", slowPoll)
	}
	if found, err := server.Sessions(t.Context(), core.SessionFilter{}); err != nil || len(found) != 0 {
		t.Errorf("%v %v", found, err)
	}
}

// A log beside a removed state is kept, and reported.
func TestALogWithoutItsDatabaseIsMovedAside(t *testing.T) {
	path := logged(t)
	log, err := os.ReadFile(path + "-wal")
	if err != nil || len(log) == 0 {
		t.Fatalf("no log is left to test with: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s, reports := reporting(t, path)
	if err := hookEvent(t.Context(), s, 1); err != nil {
		t.Fatal(err)
	}
	moved, _ := filepath.Glob(path + ".corrupt-*-wal")
	if len(moved) != 1 || len(*reports) != 1 || !strings.Contains((*reports)[0], moved[0]) {
		t.Fatalf("moved %q, reported %q", moved, *reports)
	}
	if kept, err := os.ReadFile(moved[0]); err != nil || !bytes.Equal(kept, log) {
		t.Errorf("the log is not what it was: %v", err)
	}
	if in := Inspect(t.Context(), path, true); len(in.Aside) != 1 {
		t.Errorf("the look does not see it: %q", in.Aside)
	}
}

// A copy of a whole directory, such as a restored backup, keeps the content of its log.
func TestARestoredBackupKeepsItsLog(t *testing.T) {
	path := logged(t)
	sessions := func(path string) int {
		s := open(t, path)
		found, err := s.Sessions(t.Context(), core.SessionFilter{IncludeEnded: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			return 0
		}
		return found[0].Session.Turns
	}
	turns := sessions(path)
	dir := t.TempDir()
	for _, suffix := range []string{".lock", "", "-wal", "-shm"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "state.db"+suffix), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := sessions(filepath.Join(dir, "state.db")); got != turns {
		t.Errorf("%d turns, want %d", got, turns)
	}
}

// If a user names another file by mistake, the file stays unchanged, whatever it contains.
func TestAFileThatIsNoStateIsLeftAlone(t *testing.T) {
	sqlite := append([]byte("SQLite format 3\x00"), bytes.Repeat([]byte{7}, 5000)...)
	for name, content := range map[string][]byte{
		"a conversation":                        []byte(`{"role": "user", "content": "hello"}` + "\n"),
		"a damaged database of somebody else's": sqlite,
		"one byte":                              []byte("x"),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "mychat.json")
			if err := errors.Join(os.WriteFile(path, content, 0o644), os.Chmod(path, 0o644)); err != nil { // for any umask
				t.Fatal(err)
			}
			s, err := Open(t.Context(), Options{Path: path})
			if err == nil {
				s.Close()
			}
			if coded.CodeOf(err) != coded.Invalid || err.Error() != "mychat.json is not a ctxls state; it was not touched" {
				t.Errorf("%v (%s)", err, coded.CodeOf(err))
			}
			if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, content) || len(aside(t, path)) > 0 {
				t.Errorf("it was touched: %v", err)
			}
			if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o644 {
				t.Errorf("its mode is %v", info.Mode())
			}
			for _, suffix := range []string{"-wal", "-shm"} {
				if exists(path + suffix) {
					t.Errorf("%s was left", suffix)
				}
			}
			if in := Inspect(t.Context(), path, false); coded.CodeOf(in.Unreadable) != coded.Invalid || len(in.Damage) > 0 {
				t.Errorf("the look: %v %v", in.Unreadable, in.Damage)
			}
		})
	}
}

// If a state must exist, it is not created.
func TestAStateThatMustBeThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "state.db")
	_, err := Open(t.Context(), Options{Path: path, MustExist: true})
	if coded.CodeOf(err) != coded.NotFound || err.Error() != "no state at "+path {
		t.Errorf("%v (%s)", err, coded.CodeOf(err))
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("made %v", entries)
	}
}

// logged makes a store whose content is in its log, and closes it.
func logged(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	for i := range 20 {
		if err := hookEvent(t.Context(), s, i); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	if log, err := os.Stat(path + "-wal"); err != nil || log.Size() == 0 {
		t.Fatalf("no log: %v", err)
	}
	return path
}

func truncate(t *testing.T, path string) {
	t.Helper()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
}

// counted returns the number of countOne's updates that another process sees.
func counted(t *testing.T, path string) int {
	t.Helper()
	lines := strings.Fields(together(t, 1, "counted", path)[0])
	if len(lines) == 0 {
		t.Fatal("it prints nothing")
	}
	n, err := strconv.Atoi(lines[len(lines)-1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

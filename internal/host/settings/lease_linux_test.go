package settings

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func skipWithoutLeases(t *testing.T) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "leased"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skip(err)
	}
}

// A program that opens the settings for writing while they are exchanged waits, and then writes to the file that is in its place.
func TestALeaseHoldsWritersUntilTheyCannotLose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	skipWithoutLeases(t)
	old := leaseOf(path, false)
	if old == nil {
		t.Fatal("there is no lease")
	}
	if old.awaited() {
		t.Fatal("awaited before any program waits")
	}
	written := make(chan error)
	go func() { written <- os.WriteFile(path, []byte("the host's"), 0o600) }()
	for !old.awaited() {
		time.Sleep(time.Millisecond)
	}
	if got := contents(t, path); got != "old" { // who reads does not wait
		t.Errorf("%q", got)
	}
	old.release()
	if err := <-written; err != nil || contents(t, path) != "the host's" {
		t.Errorf("%v, %q", err, contents(t, path))
	}
	writer, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if leaseOf(path, false) != nil {
		t.Error("a lease was given while the file is open for writing")
	}
}

// A program that has looked up the new file reads the old text, where the new one is taken back.
func TestALeaseFillsWhatIsTakenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte("a long new text"), 0o600); err != nil {
		t.Fatal(err)
	}
	skipWithoutLeases(t)
	fresh := leaseOf(path, true)
	if fresh == nil {
		t.Fatal("there is no lease")
	}
	seen := make(chan string)
	go func() { seen <- contents(t, path) }()
	for !fresh.awaited() { // until the reader waits
		time.Sleep(time.Millisecond)
	}
	fresh.fill([]byte("old"))
	fresh.release()
	if got := <-seen; got != "old" {
		t.Errorf("%q", got)
	}
}

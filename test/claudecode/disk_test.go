//go:build linux && e2e

package claudecode

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// The disk with the state is full: the host works as ever, and once there is room, ctxls does, too.
func TestFullDisk(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{"full": work(), "room": work()})
	w.install()
	state := filepath.Join(w.Home, ".local", "state")
	filler := filepath.Join(state, "filler")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", state, "tmpfs", 0, "size=1m"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("mounting a small disk: ", err)
		}
		t.Skip("mounting a small disk: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(state, syscall.MNT_DETACH) })
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if printed := w.prompt(one, "[[full]] please look around", "--allowedTools", "Bash"); printed != "Done.\n" {
		t.Errorf("people see %q", printed)
	}
	if n := len(w.model.Asked("full")); n != 5 {
		t.Errorf("the model was asked %d times", n)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	w.prompt(one, "[[room]] please look around", "--allowedTools", "Bash")
	if s, _ := w.Session(one); s.Usage.Tokens == nil {
		t.Errorf("with room again, the session is %+v", s.Usage)
	}
}

//go:build !windows

package screen

import (
	"os"
	"path/filepath"
	"testing"
)

// In a terminal, setup shows the changes and asks once: anything but yes changes nothing.
func TestSetup(t *testing.T) {
	m := newMachine(t)
	file := filepath.Join(m.home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	term := m.start("ctxls setup", 160, 60)
	term.shows(soon, "hooks added: SessionStart", "+++ "+file, "72%", "how full the window is", "Change this file? [y/N]")
	if _, err := os.Stat(file); err == nil {
		t.Fatal("the file was written before the answer")
	}
	term.press("Enter")
	term.shows(soon, "Nothing was changed.", "ended with 0")
	if _, err := os.Stat(file); err == nil {
		t.Fatal("the file was written after no")
	}
	interrupted := m.start("trap : INT; ctxls setup", 160, 60) // the interrupt is for the shell, too
	interrupted.shows(soon, "[y/N]")
	interrupted.press("C-c")
	interrupted.shows(soon, "Nothing was changed.")
	yes := m.start("ctxls setup", 160, 90)
	yes.shows(soon, "[y/N]")
	yes.press("y", "Enter")
	yes.shows(soon, "status line added", "installed for the user", "ended with 0")
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// At 40 columns the last line of the live screen still says how to get help and how to leave.
func TestNarrowLiveScreen(t *testing.T) {
	m := newMachine(t)
	m.turn("aaaa-1111", "/home/dev/shop", 60_000)
	term := m.start("ctxls sessions --watch", 40, 12)
	term.shows(soon, "? help · q quit", "shop")
	term.press("Enter")
	term.shows(soon, "? help · q quit", "history")
}

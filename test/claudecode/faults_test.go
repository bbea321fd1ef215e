//go:build linux && e2e

package claudecode

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// A host that gets a signal to stop ends its session, and the session's data stays.
func TestTermination(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{"slow": {{Tokens: 100_000, Calls: []e2e.Call{read("notes.txt")}}, {Hang: true}}})
	w.install("--local")
	cmd, _ := w.claude(t.Context(), "-p", "[[slow]] take your time", "--session-id", one)
	if id := w.Terminate(cmd, syscall.SIGTERM, func() int { return len(w.model.Asked("slow")) }); id != one {
		t.Errorf("the session that ended is %s", id)
	}
}

// A refused request states the window.
func TestRefusal(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{"big": {{Refusal: "prompt is too long: 210000 tokens > 180000 maximum"}}})
	w.install()
	w.prompt(one, "[[big]] everything")
	s, _ := w.Session(one)
	if s.Usage.WindowTokens != 180_000 || s.Usage.WindowProvenance != "learned" {
		t.Errorf("the window is %d, %s", s.Usage.WindowTokens, s.Usage.WindowProvenance)
	}
}

// A ctxls that cannot write its state says nothing and does not disturb the host.
func TestBrokenState(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{"work": work()})
	w.install()
	w.Write(filepath.Join(w.Home, ".local", "state"), "a file where the directory should be")
	if printed := w.prompt(one, "[[work]] please look around", "--allowedTools", "Bash"); printed != "Done.\n" {
		t.Errorf("people see %q", printed)
	}
	wantSaid(t, "all of it", w.model.Last("work"))
	if n := len(w.model.Asked("work")); n != 5 {
		t.Errorf("the model was asked %d times", n)
	}
}

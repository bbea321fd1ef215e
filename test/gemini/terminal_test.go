//go:build linux && e2e

package gemini

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/test/e2e"
)

// terminal is Gemini CLI as people use it, in a window of tmux.
type terminal struct {
	w      *world
	socket string
}

func openTerminal(w *world) *terminal {
	w.T.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		w.T.Fatal(err)
	}
	term := &terminal{w, filepath.Join(w.Home, "tmux")}
	term.tmux(w.T.Context(), "-f", "/dev/null", "new-session", "-d", "-s", "x", "-x", "160", "-y", "50",
		fmt.Sprintf("%s --no-warnings %s --model gemini-2.5-pro --yolo", node, e2e.HostBin()))
	pid, err := strconv.Atoi(strings.TrimSpace(term.tmux(w.T.Context(), "display-message", "-p", "-t", "x", "#{pane_pid}")))
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { // at once: nobody shall write while the home is removed
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		term.tmux(context.Background(), "kill-server")
	})
	return term
}

// tmux runs one command of tmux and returns what it printed, whether or not it could be done.
func (term *terminal) tmux(ctx context.Context, args ...string) string {
	out, _ := term.w.Command(ctx, "tmux", append([]string{"-S", term.socket}, args...)...).CombinedOutput()
	return string(out)
}

// shows waits until every text is on the screen.
func (term *terminal) shows(texts ...string) {
	term.w.T.Helper()
	eventually(term.w.T, func() string {
		screen := term.tmux(term.w.T.Context(), "capture-pane", "-p", "-t", "x")
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return fmt.Sprintf("%q is not on the screen:\n%s", text, screen)
			}
		}
		return ""
	})
}

// enters types a line until it is there, and sends it until it is taken: the host drops keys while it draws itself anew, and the
// first Enter may only choose a command from those that it offers.
func (term *terminal) enters(line string) {
	term.w.T.Helper()
	ctx := term.w.T.Context()
	typed := func() bool {
		time.Sleep(time.Second)
		return strings.Contains(term.tmux(ctx, "capture-pane", "-p", "-t", "x"), "* "+line)
	}
	eventually(term.w.T, func() string {
		term.tmux(ctx, "send-keys", "-t", "x", "C-u")
		term.tmux(ctx, "send-keys", "-t", "x", "-l", line)
		if !typed() {
			return line + " cannot be typed"
		}
		return ""
	})
	eventually(term.w.T, func() string {
		term.tmux(ctx, "send-keys", "-t", "x", "Enter")
		if typed() {
			return line + " is not taken"
		}
		return ""
	})
}

// A person at a terminal: a compaction that they ask for, a conversation that they clear, and the end.
func TestTerminal(t *testing.T) {
	w := newWorld(t, map[string][]reply{
		"work": {{tokens: 200_000, calls: []call{read("notes.txt")}}, {tokens: 300_000, text: "The work is done."}},
		"more": {{tokens: 310_000, text: "There is more."}},
		"less": {{tokens: 50_000, calls: []call{read("src/main.go")}}, {tokens: 51_000, text: "Now there is less."}},
		"anew": {{tokens: 20_000, text: "Begun anew."}},
	})
	w.install()
	term := openTerminal(w)
	term.shows("Type your message")
	term.enters("[[work]] please look around")
	term.shows("The work is done.")
	term.enters("[[more]] go on")
	term.shows("There is more.")
	wantSaid(t, "second turn", w.model.last("more"), guidance+"\n\n[context used: 29%]")

	term.enters("/compress")
	term.shows("compressed")
	term.enters("[[less]] go on")
	term.shows("Now there is less.")
	live := w.Sessions()
	if len(live) != 1 || live[0].State != core.StateActive || live[0].Compactions != 1 || w.Tokens(live[0].SessionID) != 51_000 {
		t.Errorf("sessions: %+v", live)
	}
	const context = "ctxls: working context\nCurrent file paths in context:\n  - notes.txt"
	if said := strings.Join(w.model.last("less").said(), "\n"); strings.Count(said, context) != 1 {
		t.Errorf("after the compaction the working context is not said once: %q", said)
	}

	term.enters("/clear")
	term.shows("Type your message")
	term.enters("[[anew]] hello")
	term.shows("Begun anew.")
	wantSaid(t, "after clearing", w.model.last("anew"))
	if n := len(w.Sessions()); n != 2 {
		t.Errorf("%d sessions, one before and one after clearing", n)
	}
	term.enters("/quit")
	eventually(t, func() string {
		for _, s := range w.Sessions() {
			if s.State != core.StateEnded {
				return "a session is still " + string(s.State)
			}
		}
		return ""
	})
}

//go:build linux && e2e

package claudecode

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/test/e2e"
)

// terminal is Claude Code as people use it, in a window of tmux.
type terminal struct {
	w      *world
	socket string
}

// openTerminal starts Claude Code for a user who has been through its first questions.
func openTerminal(w *world) *terminal {
	w.T.Helper()
	state, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark",
		"customApiKeyResponses": map[string]any{"approved": []string{key}, "rejected": []string{}},
		"projects":              map[string]any{w.Project: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
	if err != nil {
		w.T.Fatal(err)
	}
	w.Write(filepath.Join(w.Home, ".claude.json"), string(state))
	term := &terminal{w, filepath.Join(w.Home, "tmux")}
	term.tmux(w.T.Context(), "-f", "/dev/null", "new-session", "-d", "-s", "x", "-x", "160", "-y", "50",
		e2e.HostBin()+" --model claude-sonnet-4-6 --permission-mode acceptEdits")
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

func (term *terminal) screen() string {
	return term.tmux(term.w.T.Context(), "capture-pane", "-p", "-t", "x")
}

// shows waits until every text is on the screen.
func (term *terminal) shows(texts ...string) {
	term.w.T.Helper()
	eventually(term.w.T, func() string {
		screen := term.screen()
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return fmt.Sprintf("%q is not on the screen:\n%s", text, screen)
			}
		}
		return ""
	})
}

// enters types a line.
func (term *terminal) enters(line string) {
	term.w.T.Helper()
	ctx := term.w.T.Context()
	term.tmux(ctx, "send-keys", "-t", "x", "-l", line)
	term.shows(line)
	term.tmux(ctx, "send-keys", "-t", "x", "Enter")
}

// A person at a terminal, who had a status line before: ours comes first, with the host's own figures, and theirs follows.
func TestTerminal(t *testing.T) {
	w := newWorld(t, map[string][]reply{"work": work(), "small": {{tokens: 30_000, text: "Small answer."}}})
	mine := "{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"cat >/dev/null; echo MY\\u0020LINE\"}\n}\n"
	w.Write(w.settings(), mine)
	// The path that is installed has a blank in it.
	tools := filepath.Join(w.Home, "my tools")
	w.Write(filepath.Join(tools, ".keep"), "")
	if err := os.Link(e2e.CTXLSBin(), filepath.Join(tools, "ctxls")); err != nil {
		t.Fatal(err)
	}
	install := w.Command(t.Context(), filepath.Join(tools, "ctxls"), "install", "claude-code", "--statusline")
	install.Env = append(install.Env, "PATH="+tools+":/usr/bin:/bin")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if text, _ := os.ReadFile(w.settings()); !strings.Contains(string(text), tools) {
		t.Fatalf("not the path with a blank: %s", text)
	}

	term := openTerminal(w)
	term.shows("? · ?/200k", "MY LINE")
	term.enters("[[work]] please look around")
	term.shows("Done.", "███████░░░ 72% · 143k/200k · 24k to compaction · claude-sonnet-4-6", "MY LINE")
	live := w.Sessions()
	if len(live) != 1 || live[0].State != core.StateActive || live[0].Usage.WindowProvenance != "host" {
		t.Errorf("sessions: %+v", live)
	}

	term.enters("/compact")
	term.shows("Compacted", "to compaction")
	if screen := term.screen(); strings.Contains(screen, " 0% ·") {
		t.Errorf("zeros are shown as a figure:\n%s", screen)
	}
	term.enters("[[small]] go on")
	term.shows("Small answer.", "15% · 30k/200k")
	wantSaid(t, "after the compaction", w.model.last("small"))
	wantTold(t, w.model.last("small"), map[string]int{"notes.txt": 1, "src/main.go": 1, "src/util.go": 1})

	term.enters("/clear")
	term.shows("? · ?/200k", "MY LINE")
	term.enters("[[small]] anew")
	term.shows("15% · 30k/200k")
	wantSaid(t, "after clearing", w.model.last("small"), guidance)
	if n := len(w.Sessions()); n != 2 {
		t.Errorf("%d sessions, one before and one after clearing", n)
	}

	term.enters("/exit")
	eventually(t, func() string {
		for _, s := range w.Sessions() {
			if s.State != core.StateEnded {
				return "a session is still " + string(s.State)
			}
		}
		return ""
	})
	w.CTXLS("uninstall", "claude-code")
	if got, err := os.ReadFile(w.settings()); err != nil || string(got) != mine {
		t.Errorf("%v, settings: %s", err, got)
	}
}

//go:build linux && e2e

package codex

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/test/e2e"
)

// terminal is Codex as people use it, in a window of tmux.
type terminal struct {
	w      *world
	socket string
}

func openTerminal(w *world) *terminal {
	w.T.Helper()
	term := &terminal{w, filepath.Join(w.Home, "tmux")}
	term.tmux(w.T.Context(), "-f", "/dev/null", "new-session", "-d", "-s", "x", "-x", "140", "-y", "45", e2e.HostBin())
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

func (term *terminal) presses(keys ...string) {
	term.tmux(term.w.T.Context(), append([]string{"send-keys", "-t", "x"}, keys...)...)
}

// enters types a line.
func (term *terminal) enters(line string) {
	term.w.T.Helper()
	term.tmux(term.w.T.Context(), "send-keys", "-t", "x", "-l", line)
	term.shows(line)
	term.presses("Enter")
}

// commands types a line until it has done what it shall: Codex takes no command while a turn is going on, and tells only by refusing.
func (term *terminal) commands(line string, done func(screen string) bool) {
	term.w.T.Helper()
	eventually(term.w.T, func() string {
		term.enters(line)
		for range 10 {
			time.Sleep(200 * time.Millisecond)
			if done(term.screen()) {
				return ""
			}
		}
		return line + " has not worked:\n" + term.screen()
	})
}

// What install says of trust is so: until somebody trusts them, Codex skips the hooks without a word; it asks at its next start; and
// from then on they run, here and in codex exec. In the same sitting a compaction that a person asks for, and a new conversation.
func TestTrustAndTerminal(t *testing.T) {
	w := newWorldAt(t, t.TempDir(), map[string][]reply{ // beside no other test: a hook that is late says nothing
		"look": {
			{tokens: 150_000, calls: []call{run("cat notes.txt")}},
			{tokens: 190_000, calls: []call{run("sed -n 1,3p 'src/util.go'")}},
			{tokens: 193_800, text: "Done."},
		},
		"small": {{tokens: 30_000, text: "Small answer."}}, "more": {{tokens: 144_000, text: "More."}},
	})
	w.configure("gpt-5.1-codex") // of which Codex knows no successor, that it would offer first
	said := w.CTXLS("install", "codex")
	for _, words := range []string{"only once you have trusted them", `"Hooks need review"`, `"Trust all and continue"`, "/hooks"} {
		if !strings.Contains(said, words) {
			t.Errorf("install does not say %q:\n%s", words, said)
		}
	}
	turn := w.prompt("", "[[more]] go")
	w.prompt(turn.session, "[[more]] go")
	if said := w.CTXLS("doctor", "codex"); !strings.Contains(said, "0 of 8 hooks in "+w.hooks()+" are trusted") {
		t.Errorf("before they are trusted doctor says\n%s", said)
	}
	wantSaid(t, "before the hooks are trusted", w.model.last("more"))
	for _, item := range turn.items {
		if strings.Contains(item, "hook") {
			t.Errorf("Codex does say something: %s", item)
		}
	}
	if s := w.Sessions(); len(s) != 0 {
		t.Errorf("hooks that are not trusted ran: %+v", s)
	}

	term := openTerminal(w)
	term.shows("Hooks need review", "8 hooks are new or changed", "Review hooks", "2. Trust all and continue")
	eventually(t, func() string { // the first keys may come before anybody listens
		term.presses("2")
		time.Sleep(200 * time.Millisecond)
		if screen := term.screen(); !strings.Contains(screen, "› 2. Trust all and continue") {
			return "not chosen:\n" + screen
		}
		return ""
	})
	term.presses("Enter")
	term.shows("? for shortcuts")
	term.enters("[[look]] please")
	term.shows("• Done.")
	wantSaid(t, "in the terminal", w.model.last("look"), guidance)
	live := func() *core.SessionView {
		for _, s := range w.Sessions() {
			if s.State == core.StateActive {
				return &s
			}
		}
		return nil
	}
	eventually(t, func() string {
		if s := live(); s == nil || s.Usage.Tokens == nil || *s.Usage.Tokens != 193_800 || *s.Usage.Percent != 75 {
			return fmt.Sprintf("the session: %+v", s)
		}
		return ""
	})

	// The window has room again at once, not only with the next prompt.
	term.commands("/compact", func(screen string) bool { return strings.Contains(screen, "Context compacted") })
	eventually(t, func() string {
		if s := live(); s == nil || s.Compactions != 1 || s.Usage.Exact || *s.Usage.Tokens > 77_520 {
			return fmt.Sprintf("after /compact: %+v", s)
		}
		return ""
	})
	term.enters("[[small]] go on")
	term.shows("Small answer.")
	context := workingContext("notes.txt", "src/util.go")
	wantSaid(t, "after the compaction", w.model.last("small"), context)
	term.enters("[[small]] and on")
	eventually(t, func() string {
		if n := len(w.model.asked("small")); n != 2 {
			return fmt.Sprintf("the model was asked %d times", n)
		}
		return ""
	})
	wantSaid(t, "the prompt after that", w.model.last("small"), context, mark(12))
	eventually(t, func() string {
		if s := live(); s == nil || s.Compactions != 1 || !s.Usage.Exact || *s.Usage.Tokens != 30_000 {
			return fmt.Sprintf("one compaction, and the figure of the response after it: %+v", s)
		}
		return ""
	})

	term.commands("/clear", func(screen string) bool { return !strings.Contains(screen, "Small answer.") })
	term.enters("[[more]] anew")
	term.shows("• More.")
	wantSaid(t, "after clearing", w.model.last("more"), guidance)

	// Trust is kept by the definition of a hook, and holds for codex exec.
	turn = w.prompt("", "[[more]] go")
	wantSaid(t, "codex exec with trusted hooks", w.model.last("more"), guidance)
	if config := w.read(filepath.Join(w.codexHome(), "config.toml")); strings.Count(config, "trusted_hash") != 8 {
		t.Errorf("trust is kept as\n%s", config)
	}
	if said := w.CTXLS("doctor", "codex"); !strings.Contains(said, "8 of 8 hooks in "+w.hooks()+" are trusted") {
		t.Errorf("once they are trusted doctor says\n%s", said)
	}
	// Another definition is another hook.
	text := w.read(w.hooks())
	if err := os.WriteFile(w.hooks(), []byte(strings.ReplaceAll(text, `"timeout": 5`, `"timeout": 4`)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.prompt("", "[[more]] go")
	wantSaid(t, "changed hooks", w.model.last("more"))
}

//go:build linux && e2e

package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/test/e2e"
)

// choose selects the second answer to Codex's question.
func choose(t *testing.T, term *e2e.Terminal, answer string) {
	t.Helper()
	term.Shows(answer)
	e2e.Eventually(t, func() string { // the first keys may come before Codex reads them
		term.Press("Down")
		time.Sleep(200 * time.Millisecond)
		if screen := term.Screen(); !strings.Contains(screen, "› "+answer) {
			return "not chosen:\n" + screen
		}
		return ""
	})
	term.Press("Enter")
}

// commands types a line until it has its effect. Codex refuses commands during a turn, and shows only the refusal.
func commands(t *testing.T, term *e2e.Terminal, line string, done func(screen string) bool) {
	t.Helper()
	e2e.Eventually(t, func() string {
		term.Enter(line)
		for range 10 {
			time.Sleep(200 * time.Millisecond)
			if done(term.Screen()) {
				return ""
			}
		}
		return line + " has not worked:\n" + term.Screen()
	})
}

// The description of trust in install is right. Until the user trusts the hooks, Codex skips them silently. It asks at
// its next start. From then on they run, here and in codex exec. The same run also tests a compaction on request and a
// new conversation.
func TestTrustAndTerminal(t *testing.T) {
	w := newTestEnvAt(t, t.TempDir(), map[string][]reply{ // not in parallel with other tests: a late hook says nothing
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
	wantSaid(t, "before the hooks are trusted", w.model.Last("more"))
	for _, item := range turn.items {
		if strings.Contains(item, "hook") {
			t.Errorf("Codex does say something: %s", item)
		}
	}
	if s := w.Sessions(); len(s) != 0 {
		t.Errorf("hooks that are not trusted ran: %+v", s)
	}

	term := e2e.OpenTerminal(w.Sandbox, 140, 45, e2e.HostBin())
	term.Shows("Hooks need review", "8 hooks are new or changed", "Review hooks", "2. Trust all and continue")
	choose(t, term, "2. Trust all and continue")
	term.Shows("? for shortcuts")
	term.Enter("[[look]] please")
	term.Shows("• Done.")
	wantSaid(t, "in the terminal", w.model.Last("look"), guidance)
	live := func() *core.SessionView {
		for _, s := range w.Sessions() {
			if s.State == core.StateActive {
				return &s
			}
		}
		return nil
	}
	e2e.Eventually(t, func() string {
		if s := live(); s == nil || s.Usage.Tokens == nil || *s.Usage.Tokens != 193_800 || *s.Usage.Percent != 75 {
			return fmt.Sprintf("the session: %+v", s)
		}
		return ""
	})

	// The gauge shows free room at once, before the next prompt.
	commands(t, term, "/compact", func(screen string) bool { return strings.Contains(screen, "Context compacted") })
	e2e.Eventually(t, func() string {
		if s := live(); s == nil || s.Compactions != 1 || s.Usage.Exact || *s.Usage.Tokens > 77_520 {
			return fmt.Sprintf("after /compact: %+v", s)
		}
		return ""
	})
	term.Enter("[[small]] go on")
	term.Shows("Small answer.")
	context := workingContext("notes.txt", "src/util.go")
	wantSaid(t, "after the compaction", w.model.Last("small"), context)
	term.Enter("[[small]] and on")
	e2e.Eventually(t, func() string {
		if n := len(w.model.Asked("small")); n != 2 {
			return fmt.Sprintf("the model was asked %d times", n)
		}
		return ""
	})
	wantSaid(t, "the prompt after that", w.model.Last("small"), context, mark(12))
	e2e.Eventually(t, func() string {
		if s := live(); s == nil || s.Compactions != 1 || !s.Usage.Exact || *s.Usage.Tokens != 30_000 {
			return fmt.Sprintf("one compaction, and the figure of the response after it: %+v", s)
		}
		return ""
	})

	commands(t, term, "/clear", func(screen string) bool { return !strings.Contains(screen, "Small answer.") })
	term.Enter("[[more]] again")
	term.Shows("• More.")
	wantSaid(t, "after clearing", w.model.Last("more"), guidance)

	// Codex stores trust by the definition of a hook, also for codex exec.
	turn = w.prompt("", "[[more]] go")
	wantSaid(t, "codex exec with trusted hooks", w.model.Last("more"), guidance)
	if config := w.read(filepath.Join(w.codexHome(), "config.toml")); strings.Count(config, "trusted_hash") != 8 {
		t.Errorf("trust is kept as\n%s", config)
	}
	if said := w.CTXLS("doctor", "codex"); !strings.Contains(said, "8 of 8 hooks in "+w.hooks()+" are trusted") {
		t.Errorf("once they are trusted doctor says\n%s", said)
	}
	// A changed definition is a new hook.
	text := w.read(w.hooks())
	if err := os.WriteFile(w.hooks(), []byte(strings.ReplaceAll(text, `"timeout": 5`, `"timeout": 4`)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.prompt("", "[[more]] go")
	wantSaid(t, "changed hooks", w.model.Last("more"))
}

//go:build linux && e2e

package gemini

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/test/e2e"
)

// openTerminal starts Gemini CLI as people use it.
func openTerminal(w *testEnv, width, height int) *e2e.Terminal {
	w.T.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		w.T.Fatal(err)
	}
	return e2e.OpenTerminal(w.Sandbox, width, height, fmt.Sprintf("%s --no-warnings %s --model gemini-2.5-pro --yolo", node, e2e.HostBin()))
}

// enters types a line and sends it until a text is on the screen.
func enters(t *testing.T, term *e2e.Terminal, line, shows string) {
	t.Helper()
	term.Send("* ", line, shows)
}

// A person at a terminal: a compaction that they ask for, a conversation that they clear, and the end.
func TestTerminal(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{
		"work":  {{tokens: 200_000, calls: []call{read("notes.txt")}}, {tokens: 300_000, text: "The work is done."}},
		"more":  {{tokens: 310_000, text: "There is more."}},
		"less":  {{tokens: 50_000, calls: []call{read("src/main.go")}}, {tokens: 51_000, text: "Now there is less."}},
		"fresh": {{tokens: 20_000, text: "A fresh start."}},
	})
	w.install()
	term := openTerminal(w, 160, 50)
	term.Shows("Type your message")
	enters(t, term, "[[work]] please look around", "The work is done.")
	enters(t, term, "[[more]] go on", "There is more.")
	wantSaid(t, "second turn", w.model.Last("more"), guidance+"\n\n[context used: 29%]")

	enters(t, term, "/compress", "compressed")
	enters(t, term, "[[less]] go on", "Now there is less.")
	e2e.Eventually(t, func() string { // what is on the screen may be there before the hook has ended
		live := w.Sessions()
		if len(live) != 1 || live[0].State != core.StateActive || live[0].Compactions != 1 || !live[0].Usage.Exact || *live[0].Usage.Tokens != 51_000 {
			return fmt.Sprintf("sessions: %+v", live)
		}
		return ""
	})
	const context = "ctxls: working context\nCurrent file paths in context:\n  - notes.txt"
	if said := strings.Join(said(w.model.Last("less")), "\n"); strings.Count(said, context) != 1 {
		t.Errorf("after the compaction the working context is not said once: %q", said)
	}

	enters(t, term, "/clear", "Type your message")
	enters(t, term, "[[fresh]] hello", "A fresh start.")
	wantSaid(t, "after clearing", w.model.Last("fresh"))
	if n := len(w.Sessions()); n != 2 {
		t.Errorf("%d sessions, one before and one after clearing", n)
	}
	term.Type("/quit")
	e2e.Eventually(t, func() string {
		term.Press("Enter")
		for _, s := range w.Sessions() {
			if s.State != core.StateEnded {
				return "a session is still " + string(s.State)
			}
		}
		return ""
	})
}

//go:build linux && e2e

package claudecode

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/test/e2e"
)

// openTerminal starts Claude Code in a terminal, for a user who has answered its first questions.
func openTerminal(w *testEnv, width, height int) *e2e.Terminal {
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
	return e2e.OpenTerminal(w.Sandbox, width, height, e2e.HostBin()+" --model claude-sonnet-4-6 --permission-mode acceptEdits")
}

// enters types a line and sends it until every text is on the screen.
func enters(t *testing.T, term *e2e.Terminal, line string, shows ...string) {
	t.Helper()
	term.Send("❯\u00a0", line, shows...)
}

// A user at a terminal already had a status line. Ours comes first, with the host's own figures, and the user's line
// follows.
func TestTerminal(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{"work": work(), "small": {{Tokens: 30_000, Text: "Small answer."}}})
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

	term := openTerminal(w, 160, 50)
	term.Shows("? · ?/200k", "MY LINE")
	enters(t, term, "[[work]] please look around", "Done.", "███████░│░ 72% · 143k/200k · ~24k to compaction · ", "claude-sonnet-4-6", "MY LINE")
	live := w.Sessions()
	if len(live) != 1 || live[0].State != core.StateActive || live[0].Usage.WindowProvenance != "host" {
		t.Errorf("sessions: %+v", live)
	}

	enters(t, term, "/compact", "Compacted", "to compaction")
	if screen := term.Screen(); strings.Contains(screen, " 0% ·") {
		t.Errorf("zeros are shown as a figure:\n%s", screen)
	}
	enters(t, term, "[[small]] go on", "Small answer.", "15% · 30k/200k")
	wantSaid(t, "after the compaction", w.model.Last("small"),
		"UserPromptSubmit: ctxls: working context\nFiles in use before the compaction that its summary does not name:\n  - src/main.go\n  - src/util.go")

	enters(t, term, "/clear", "? · ?/200k", "MY LINE")
	enters(t, term, "[[small]] again", "15% · 30k/200k")
	wantSaid(t, "after clearing", w.model.Last("small"), guidance)
	if n := len(w.Sessions()); n != 2 {
		t.Errorf("%d sessions, one before and one after clearing", n)
	}

	term.Type("/exit")
	e2e.Eventually(t, func() string {
		term.Press("Enter")
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

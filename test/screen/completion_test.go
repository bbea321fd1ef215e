//go:build !windows

package screen

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// In each shell, with the script that ctxls prints for it, a tab completes commands, flags and their values, ids of sessions, models
// and files.
func TestCompletion(t *testing.T) {
	for shell, start := range map[string][2]string{
		"bash": {"bash --norc --noprofile -i", "source <(ctxls completion bash)"},
		"zsh":  {"zsh -f -i", "autoload -U compinit; compinit -u -d ./dump; source <(ctxls completion zsh)"},
		"fish": {"fish --no-config -i", "ctxls completion fish | source"},
	} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				cannotRun(t, shell)
			}
			m := newMachine(t)
			m.turn("aaaa-1111", "/home/dev/shop", 60_000)
			m.turn("bbbb-2222", "/home/dev/kernel", 60_000)
			if err := os.WriteFile(filepath.Join(m.home, "notes of today.json"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			term := m.start(start[0], 120, 30, "PS1=ready> ", "fish_greeting=")
			typed := func(text string) { term.press("-l", "--", text) }
			typed(start[1] + "; echo loa''ded")
			term.press("Enter")
			term.shows(soon, "\nloaded")
			for _, step := range [][2]string{
				{"ctxls sessi", "ctxls sessions"},
				{"--wat", "ctxls sessions --watch"},
				{"--host cod", "--watch --host codex"},
				{"--sort=ful", "--sort=full"},
			} {
				typed(step[0])
				term.press("Tab")
				term.shows(soon, step[1])
			}
			for _, line := range [][2]string{
				{"ctxls breakdown aaa", "ctxls breakdown aaaa-1111"},
				{"ctxls forget aaaa-1111 bb", "ctxls forget aaaa-1111 bbbb-2222"},
				{"ctxls windows claude-fab", "ctxls windows claude-fable"},
				{"ctxls install gem", "ctxls install gemini-cli"},
				{"ctxls measure note", `notes\ of\ today.json`},
			} {
				term.press("C-e", "C-u")
				typed(line[0])
				term.press("Tab")
				if shell == "fish" && line[0] == "ctxls measure note" {
					line[1] = "notes" // it quotes in another way
				}
				term.shows(soon, line[1])
			}
			term.press("C-e", "C-u")
			typed("exit")
			term.press("Enter")
			term.shows(soon, "ended with") // a shell that is killed still writes its history, while the home is removed
		})
	}
}

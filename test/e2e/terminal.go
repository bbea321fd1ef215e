//go:build linux && e2e

package e2e

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "redraw the documents' pictures of the host")

// A Terminal is a tmux window in which a host runs interactively, with ctxls beside it if a test splits the window.
type Terminal struct {
	w      *Sandbox
	socket string
	shown  string // the socket of the window around it, which has the lines between the parts too
}

// OpenTerminal starts a command line in a terminal of a size, with colors. At the end of the test its processes are
// killed at once, so that none writes while the home is removed.
func OpenTerminal(w *Sandbox, width, height int, command string) *Terminal {
	w.T.Helper()
	term := &Terminal{w: w, socket: filepath.Join(w.Temp(), "in"), shown: filepath.Join(w.Temp(), "out")}
	settings := filepath.Join(w.Temp(), "tmux.conf")
	w.Write(settings, "set -g status off\nset -g default-terminal tmux-256color\nset -as terminal-features ',*:RGB'\n"+
		"set -g pane-border-style fg=#30363d\nset -g pane-active-border-style fg=#30363d\nset -g escape-time 0\n")
	w.Env = append(w.Env, "COLORTERM=truecolor")
	run := func(socket, command string) {
		if out, err := term.command(w.T.Context(), socket, "-f", settings, "new-session", "-d", "-s", "x", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), command).CombinedOutput(); err != nil {
			w.T.Fatalf("tmux: %v\n%s", err, out)
		}
		w.T.Cleanup(func() {
			pids, _ := term.command(context.Background(), socket, "list-panes", "-s", "-t", "x", "-F", "#{pane_pid}").Output()
			for field := range strings.FieldsSeq(string(pids)) {
				if pid, err := strconv.Atoi(field); err == nil && pid > 1 {
					_ = syscall.Kill(-pid, syscall.SIGKILL)
				}
			}
			_ = term.command(context.Background(), socket, "kill-server").Run()
		})
	}
	run(term.socket, command)
	run(term.shown, "env -u TMUX tmux -S "+term.socket+" attach")
	return term
}

func (term *Terminal) command(ctx context.Context, socket string, args ...string) *exec.Cmd {
	return term.w.Command(ctx, "tmux", append([]string{"-u", "-S", socket}, args...)...)
}

// Below runs a command line in the lowest lines of the window, and keeps the keyboard on the upper part.
func (term *Terminal) Below(lines int, command string) {
	term.w.T.Helper()
	if out, err := term.command(term.w.T.Context(), term.socket, "split-window", "-d", "-v", "-l", strconv.Itoa(lines), "-t", "x", command).CombinedOutput(); err != nil {
		term.w.T.Fatalf("tmux: %v\n%s", err, out)
	}
}

// Screen returns the visible text.
func (term *Terminal) Screen() string {
	out, _ := term.command(term.w.T.Context(), term.shown, "capture-pane", "-p", "-t", "x").Output()
	return string(out)
}

// Press presses keys, by tmux's names of them.
func (term *Terminal) Press(keys ...string) {
	_ = term.command(term.w.T.Context(), term.socket, append([]string{"send-keys", "-t", "x.0"}, keys...)...).Run()
}

// Type types a line until it is on the screen, since hosts drop keys while they redraw. It sends the last character
// after the others are visible: in Gemini CLI a "?" opens the help if the text before it is not drawn yet.
func (term *Terminal) Type(line string) {
	term.w.T.Helper()
	begin, last := line[:len(line)-1], line[len(line)-1:]
	term.until(line+" is typed", func() bool {
		term.Press("C-u")
		term.Press("-l", begin)
		if !term.soon(begin) {
			return false
		}
		term.Press("-l", last)
		return term.soon(line)
	})
}

// soon reports whether a text is on the screen within a second.
func (term *Terminal) soon(text string) bool {
	for range 10 {
		if time.Sleep(100 * time.Millisecond); strings.Contains(term.Screen(), text) {
			return true
		}
	}
	return false
}

// Enter types a line and sends it.
func (term *Terminal) Enter(line string) {
	term.w.T.Helper()
	term.Type(line)
	term.Press("Enter")
}

// Send types a line and sends it, until every text is on the screen. It presses Enter again for as long as the line stands behind the
// prompt, since hosts drop keys while they start or redraw, and since the first may only choose a command from those that are offered.
// That the line is gone does not say that it was taken: a screen that is being drawn is empty.
func (term *Terminal) Send(prompt, line string, texts ...string) {
	term.w.T.Helper()
	term.Type(line)
	term.until(fmt.Sprintf("after %s: %q on the screen", line, texts), func() bool {
		screen := term.Screen()
		if strings.Contains(screen, prompt+line) {
			term.Press("Enter")
			time.Sleep(time.Second)
			screen = term.Screen()
		}
		return containsAll(screen, texts)
	})
}

// Shows waits until every text is on the screen.
func (term *Terminal) Shows(texts ...string) {
	term.w.T.Helper()
	term.until(fmt.Sprintf("%q on the screen", texts), func() bool {
		return containsAll(term.Screen(), texts)
	})
}

func containsAll(screen string, texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) })
}

func (term *Terminal) until(what string, holds func() bool) {
	term.w.T.Helper()
	for deadline := time.Now().Add(Patience); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			term.w.T.Fatalf("never: %s\n%s", what, term.Screen())
		}
	}
}

// Picture waits until every text is on the screen, and makes sure that the documents' picture of that name, docs/images/NAME.svg,
// shows them too. With -update it draws the picture first.
func (term *Terminal) Picture(name string, texts ...string) {
	term.w.T.Helper()
	term.Shows(texts...)
	file := filepath.Join("..", "..", "docs", "images", name+".svg")
	if *update {
		for before := ""; before != term.Screen(); time.Sleep(3 * time.Second) { // until nothing moves
			before = term.Screen()
		}
		ansi, err := term.command(term.w.T.Context(), term.shown, "capture-pane", "-p", "-e", "-N", "-t", "x").Output()
		if err != nil {
			term.w.T.Fatal(err)
		}
		draw := exec.Command("go", "run", "../../internal/tools/picture", "-screen")
		draw.Stdin = bytes.NewReader(used(ansi))
		draw.Stderr = os.Stderr
		svg, err := draw.Output()
		if err != nil {
			term.w.T.Fatal(err)
		}
		if err := os.WriteFile(file, svg, 0o644); err != nil {
			term.w.T.Fatal(err)
		}
	}
	wantPicture(term.w.T, file, texts)
}

var blank = regexp.MustCompile(`^(?:\x1b\[[0-9;]*m| )*$`)

// used returns a screen without the empty lines at its end.
func used(screen []byte) []byte {
	lines := bytes.Split(screen, []byte("\n"))
	for len(lines) > 0 && blank.Match(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return append(bytes.Join(lines, []byte("\n")), '\n')
}

// wantPicture makes sure that a picture has every word of the texts.
func wantPicture(t *testing.T, file string, texts []string) {
	t.Helper()
	svg, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, m := range regexp.MustCompile(`<text[^>]*>([^<]*)</text>`).FindAllSubmatch(svg, -1) {
		for word := range strings.FieldsSeq(string(m[1])) {
			words[strings.Trim(word, ".,")] = true
		}
	}
	for _, text := range texts {
		for word := range strings.FieldsSeq(text) {
			if !words[strings.Trim(word, ".,")] {
				t.Errorf("%s does not show %q of %q; go test -tags e2e -run Picture -update redraws it", file, word, text)
			}
		}
	}
}

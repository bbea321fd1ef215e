//go:build !windows

// Package screen holds what is tested of the screens that people look at: the live table in a real terminal, and the page in
// a real browser.
package screen

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// binary builds ctxls once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ctxls-screen")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "ctxls")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", bin, "github.com/ctxls/ctxls/cmd/ctxls").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if bin, err := binary(); err == nil {
		os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}

// machine is a home directory of its own with ctxls in it.
type machine struct {
	t         *testing.T
	bin, home string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	bin, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return &machine{t, bin, t.TempDir()}
}

// env is the environment of whatever runs on the machine.
func (m *machine) env(more ...string) []string {
	return append([]string{"HOME=" + m.home, "XDG_STATE_HOME=" + m.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8"}, more...)
}

// run runs ctxls to its end and returns what it printed.
func (m *machine) run(stdin string, args ...string) string {
	m.t.Helper()
	cmd := exec.Command(m.bin, args...)
	cmd.Env, cmd.Dir, cmd.Stdin = m.env(), m.home, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("ctxls %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// turn has a session of Claude Code do one turn: its transcript grows to so many tokens, and its hooks run.
func (m *machine) turn(session, project string, tokens int) {
	m.t.Helper()
	transcript := filepath.Join(m.home, session+".jsonl")
	f, err := os.OpenFile(transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		m.t.Fatal(err)
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	fmt.Fprintf(f, `{"type":"user","timestamp":%q,"message":{"content":"please go on with the work"}}`+"\n", now)
	fmt.Fprintf(f, `{"type":"assistant","timestamp":%q,"cwd":%q,"message":{"id":"a%d","model":"claude-opus-4-6","usage":{"input_tokens":%d,"output_tokens":1},"content":[{"type":"tool_use","id":"c%d","name":"Read","input":{"file_path":%q}}]}}`+"\n",
		now, project, tokens, tokens-2000, tokens, project+"/src/main.go")
	fmt.Fprintf(f, `{"type":"user","timestamp":%q,"message":{"content":[{"type":"tool_result","tool_use_id":"c%d","content":%q}]}}`+"\n", now, tokens, strings.Repeat("func main() { println(1) }\n", 180))
	fmt.Fprintf(f, `{"type":"assistant","timestamp":%q,"message":{"id":"b%d","model":"claude-opus-4-6","usage":{"input_tokens":%d,"output_tokens":1},"content":[{"type":"text","text":"done"}]}}`+"\n", now, tokens, tokens)
	f.Close()
	payload := func(event string) string {
		return fmt.Sprintf(`{"session_id":%q,"cwd":%q,"transcript_path":%q,"hook_event_name":%q,"prompt":"go on"}`, session, project, transcript, event)
	}
	m.run(payload("UserPromptSubmit"), "hook", "claude-code")
	m.run(payload("Stop"), "hook", "claude-code")
}

// compact has a session be compacted.
func (m *machine) compact(session, project string) {
	m.t.Helper()
	for _, event := range []string{"PreCompact", "PostCompact"} {
		m.run(fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":%q,"trigger":"auto","compact_summary":"work on src/main.go"}`, session, project, event), "hook", "claude-code")
	}
	time.Sleep(20 * time.Millisecond) // so that the next response is dated after it
}

// terminal is a window of tmux in which ctxls runs.
type terminal struct {
	m      *machine
	socket string
}

// start starts a command line of a shell in a terminal of a size.
func (m *machine) start(command string, width, height int, env ...string) *terminal {
	m.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		cannotRun(m.t, "tmux")
	}
	dir, err := os.MkdirTemp("", "tmux") // sockets have short names
	if err != nil {
		m.t.Fatal(err)
	}
	term := &terminal{m, filepath.Join(dir, "s")}
	m.t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", term.socket, "kill-server").Run()
		os.RemoveAll(dir)
	})
	cmd := exec.Command("tmux", "-S", term.socket, "-f", "/dev/null", "-u", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height),
		"env -u TMUX -u TMUX_PANE PATH="+filepath.Dir(m.bin)+":$PATH sh -c '"+command+"; echo ended with $?; sleep 1000'")
	cmd.Env, cmd.Dir = m.env(env...), m.home
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("tmux: %v\n%s", err, out) // sh internal/tools/needs.sh installs it
	}
	return term
}

func (term *terminal) tmux(args ...string) string {
	term.m.t.Helper()
	ctx, stop := context.WithTimeout(term.m.t.Context(), 10*time.Second)
	defer stop()
	out, err := exec.CommandContext(ctx, "tmux", append([]string{"-S", term.socket}, args...)...).CombinedOutput()
	if err != nil {
		term.m.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// press presses keys, by tmux's names of them.
func (term *terminal) press(keys ...string) { term.tmux(append([]string{"send-keys"}, keys...)...) }

// resize makes the terminal another size.
func (term *terminal) resize(width, height int) {
	term.tmux("resize-window", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
}

// screen returns what can be seen.
func (term *terminal) screen() string { return term.tmux("capture-pane", "-p") }

// shows waits until all of the texts can be seen, and returns the screen.
func (term *terminal) shows(within time.Duration, texts ...string) string {
	term.m.t.Helper()
	return term.until(within, fmt.Sprintf("all of %q", texts), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

func (term *terminal) until(within time.Duration, what string, holds func(string) bool) string {
	term.m.t.Helper()
	screen := ""
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if screen = term.screen(); holds(screen) {
			return screen
		}
	}
	term.m.t.Fatalf("after %v the screen does not show %s:\n%s", within, what, screen)
	return ""
}

//go:build linux && e2e

package claudecode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
)

// The key that Claude Code is given. It opens nothing.
const key = "sk-ant-fake-000"

// patience is how long one run of Claude Code may take.
const patience = 60 * time.Second

// world is a home, a project and a model.
type world struct {
	t             *testing.T
	home, project string
	model         *model
}

// newWorld makes a world with a few files in the project. In scripts, paths begin with $PROJECT.
func newWorld(t *testing.T, scripts map[string][]reply) *world {
	t.Parallel()
	return newWorldAt(t, t.TempDir(), scripts)
}

func newWorldAt(t *testing.T, dir string, scripts map[string][]reply) *world {
	w := &world{t: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project")}
	for name, text := range map[string]string{
		"project/notes.txt": "alpha\nbeta\n", "project/src/main.go": "package main\n", "project/src/util.go": "package main // util\n", "home/.keep": "",
	} {
		w.write(filepath.Join(dir, name), text)
	}
	for _, script := range scripts {
		for _, reply := range script {
			for _, c := range reply.calls {
				for name, value := range c.input {
					if s, ok := value.(string); ok {
						c.input[name] = strings.ReplaceAll(s, "$PROJECT", w.project)
					}
				}
			}
		}
	}
	w.model = newModel(t, scripts)
	t.Cleanup(func() {
		w.nothingElseSaid()
		if log, err := os.ReadFile(filepath.Join(w.home, ".local", "state", "ctxls", "ctxls.log")); err == nil && t.Failed() {
			t.Logf("the log of ctxls:\n%s", log)
		}
	})
	return w
}

// nothingElseSaid makes sure that no request holds a word of ctxls outside of what hooks say. Aside are the working context for the
// model that writes a summary, and what Claude Code itself shows of the hooks after /compact, to the model too.
func (w *world) nothingElseSaid() {
	for i, r := range w.model.requests {
		for _, text := range r.texts() {
			rest := shown.ReplaceAllString(framed.ReplaceAllString(text, ""), "")
			if r.kind == "summary" {
				rest = strings.Replace(rest, "ctxls: working context\nCurrent file paths in context:\n", "", 1)
			}
			if at := strings.Index(rest, "ctxls"); at >= 0 {
				w.t.Errorf("request %d (%s) holds: …%s…", i, r.kind, rest[max(0, at-200):min(len(rest), at+200)])
			}
		}
	}
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) settings() string { return filepath.Join(w.home, ".claude", "settings.json") }

// environ is all that programs see of the machine.
func (w *world) environ() []string {
	return []string{
		"PATH=" + filepath.Dir(os.Getenv(ctxlsVar)) + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + w.home, "TERM=xterm-256color", "LANG=C.UTF-8",
		"ANTHROPIC_BASE_URL=" + w.model.server.URL, "ANTHROPIC_API_KEY=" + key,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	}
}

// command prepares a program in the project, in a process group of its own that dies with the test.
func (w *world) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = w.project, w.environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

// ctxls runs our program and returns what it printed.
func (w *world) ctxls(args ...string) string {
	w.t.Helper()
	out, err := w.command(w.t.Context(), os.Getenv(ctxlsVar), args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("ctxls %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// install has Claude Code run ctxls.
func (w *world) install(flags ...string) {
	w.t.Helper()
	w.ctxls(append([]string{"install", "claude-code"}, flags...)...)
}

// session returns what ctxls knows of a session; ok is false where it knows none.
func (w *world) session(id string) (found core.SessionView, ok bool) {
	w.t.Helper()
	for _, s := range w.sessions() {
		if s.SessionID == id {
			return s, true
		}
	}
	return found, false
}

func (w *world) sessions() (sessions []core.SessionView) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(w.ctxls("sessions", "--all", "--json")), &sessions); err != nil {
		w.t.Fatal(err)
	}
	return sessions
}

// tokens is the main gauge of a session; it must be a reported one.
func (w *world) tokens(id string) int {
	w.t.Helper()
	s, ok := w.session(id)
	if !ok || s.Usage.Tokens == nil || !s.Usage.Exact {
		w.t.Fatalf("no reported figure of session %s: %+v", id, s.Usage)
	}
	return *s.Usage.Tokens
}

// claude starts Claude Code without a terminal.
func (w *world) claude(ctx context.Context, args ...string) (cmd *exec.Cmd, output *bytes.Buffer) {
	args = append([]string{"--model", "claude-sonnet-4-6", "--permission-mode", "acceptEdits"}, args...)
	cmd = w.command(ctx, os.Getenv(claudeVar), args...)
	output = new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = output, output
	return cmd, output
}

// prompt runs one turn of a session to its end and returns what Claude Code printed.
func (w *world) prompt(session, prompt string, flags ...string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	// Begun by its first prompt, resumed by the others.
	choice := "--session-id"
	if found, _ := filepath.Glob(filepath.Join(w.home, ".claude", "projects", "*", session+".jsonl")); len(found) > 0 {
		choice = "--resume"
	}
	cmd, output := w.claude(ctx, append([]string{"-p", prompt, choice, session}, flags...)...)
	if err := cmd.Run(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); !exited || ctx.Err() != nil {
			w.t.Fatalf("claude: %v\n%s", err, output)
		}
	}
	return output.String()
}

// read is a call of the Read tool for a file of the project.
func read(path string) call {
	return call{"Read", map[string]any{"file_path": "$PROJECT/" + path}}
}

//go:build linux && e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
)

// A Sandbox is a home and a project, in which a host and ctxls run.
type Sandbox struct {
	T             *testing.T
	Home, Project string
	// Env is what programs see beside PATH, HOME, TMPDIR, TERM and LANG.
	Env []string
}

// NewSandbox makes one below dir with a few files in the project. When the test fails, the log of ctxls is shown.
func NewSandbox(t *testing.T, dir string) *Sandbox {
	return newTestEnv(t, filepath.Join(dir, "home"), filepath.Join(dir, "project"), map[string]string{
		"notes.txt": "alpha\nbeta\n", "src/main.go": "package main\n", "src/util.go": "package main // util\n",
	})
}

// NewShop makes one as people have it, to be looked at: the project lies in the home, so that hosts call it ~/shop.
func NewShop(t *testing.T) *Sandbox {
	home := filepath.Join(t.TempDir(), "home")
	return newTestEnv(t, home, filepath.Join(home, "shop"), map[string]string{
		"README.md":           "# Shop\n",
		"src/cart/server.ts":  "import { carts } from './store'\n\nexport function add(user: string, item: string) {\n  carts.of(user).push(item)\n}\n",
		"src/cart/store.ts":   "const all = new Map<string, string[]>()\n\nexport const carts = {\n  of: (user: string) => all.get(user) ?? [],\n}\n",
		"src/cart/Button.tsx": "export const Button = () => <button>Add to cart</button>\n",
	})
}

func newTestEnv(t *testing.T, home, project string, files map[string]string) *Sandbox {
	w := &Sandbox{T: t, Home: home, Project: project}
	for name, text := range files {
		w.Write(filepath.Join(project, name), text)
	}
	w.Write(filepath.Join(home, "tmp", ".keep"), "")
	t.Cleanup(w.killAll)
	t.Cleanup(func() {
		if log, err := os.ReadFile(filepath.Join(w.Home, ".local", "state", "ctxls", "ctxls.log")); err == nil && t.Failed() {
			t.Logf("the log of ctxls:\n%s", log)
		}
	})
	return w
}

// killAll ends every process that uses this home, until there is none. Hosts leave processes in their own sessions,
// which would still write into the home during its removal.
func (w *Sandbox) killAll() {
	home := []byte("\x00HOME=" + w.Home + "\x00")
	for found := true; found; {
		found = false
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range environs {
			environ, err := os.ReadFile(path)
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err == nil && pid > 1 && bytes.Contains(append([]byte{0}, environ...), home) && syscall.Kill(pid, syscall.SIGKILL) == nil {
				found = true
			}
		}
		if found {
			time.Sleep(10 * time.Millisecond) // one that was killed is gone a moment later
		}
	}
}

// Write writes a file and the directories above it.
func (w *Sandbox) Write(path, text string) {
	w.T.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.T.Fatal(err)
	}
}

// Environ returns the whole environment of the programs. They share no temporary files with other users: in the
// namespace an ordinary user has the name root, and root's real files under /tmp belong to another user.
func (w *Sandbox) Environ() []string {
	return append([]string{
		"PATH=" + filepath.Dir(CTXLSBin()) + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + w.Home, "TMPDIR=" + w.Temp(), "TERM=xterm-256color",
		"LANG=C.UTF-8",
		// The tests check outputs, also on a busy machine. Tests of timeouts reset it.
		"CTXLS_WAIT=10000",
	}, w.Env...)
}

// InProject returns a tool's input with the project's path where texts say $PROJECT.
func (w *Sandbox) InProject(input map[string]any) map[string]any {
	in := map[string]any{}
	for name, value := range input {
		if s, ok := value.(string); ok {
			value = strings.ReplaceAll(s, "$PROJECT", w.Project)
		}
		in[name] = value
	}
	return in
}

// Patience is how long one run of a host may take.
const Patience = 3 * time.Minute

// Eventually waits until a condition holds. Until then, the condition returns the problem.
func Eventually(t *testing.T, wrong func() string) {
	t.Helper()
	deadline := time.Now().Add(Patience)
	for {
		problem := wrong()
		if problem == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(problem)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Temp is the directory for temporary files.
func (w *Sandbox) Temp() string { return filepath.Join(w.Home, "tmp") }

// Command prepares a program in the project, in a process group of its own that dies with ctx.
func (w *Sandbox) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = w.Project, w.Environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

// CTXLS runs our program and returns what it printed; a status other than 0 fails the test.
func (w *Sandbox) CTXLS(args ...string) string {
	w.T.Helper()
	out, err := w.Command(w.T.Context(), CTXLSBin(), args...).CombinedOutput()
	if err != nil {
		w.T.Fatalf("ctxls %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Sessions returns what ctxls knows of all sessions.
func (w *Sandbox) Sessions() (sessions []core.SessionView) {
	w.T.Helper()
	if err := json.Unmarshal([]byte(w.CTXLS("sessions", "--all", "--json")), &sessions); err != nil {
		w.T.Fatal(err)
	}
	return slices.DeleteFunc(sessions, func(s core.SessionView) bool { return s.Source != core.SourceHooks })
}

// Session returns what ctxls knows of a session; ok is false where it knows none.
func (w *Sandbox) Session(id string) (found core.SessionView, ok bool) {
	w.T.Helper()
	for _, s := range w.Sessions() {
		if s.SessionID == id {
			return s, true
		}
	}
	return found, false
}

// Tokens is the main gauge of a session; it must be a reported one.
func (w *Sandbox) Tokens(id string) int {
	w.T.Helper()
	s, ok := w.Session(id)
	if !ok || s.Usage.Tokens == nil || !s.Usage.Exact {
		w.T.Fatalf("no reported figure of session %s: %+v", id, s.Usage)
	}
	return *s.Usage.Tokens
}

// Terminate starts a host and ends it by a signal while its second request to the model hangs. The first request was
// answered at 100,000 tokens. Then the only session must be ended, and its gauge unchanged. Terminate returns the
// session's ID.
func (w *Sandbox) Terminate(cmd *exec.Cmd, signal os.Signal, asked func() int) (id string) {
	w.T.Helper()
	if err := cmd.Start(); err != nil {
		w.T.Fatal(err)
	}
	Eventually(w.T, func() string {
		if n := asked(); n < 2 {
			return fmt.Sprintf("the model was asked %d times\n%s%s", n, cmd.Stdout, cmd.Stderr)
		}
		return ""
	})
	if err := cmd.Process.Signal(signal); err != nil {
		w.T.Fatal(err)
	}
	_ = cmd.Wait() // it says how it was ended
	Eventually(w.T, func() string {
		if s := w.Sessions(); len(s) != 1 || s[0].State != core.StateEnded {
			return fmt.Sprintf("sessions: %+v", s)
		}
		return ""
	})
	id = w.Sessions()[0].SessionID
	if got := w.Tokens(id); got != 100_000 {
		w.T.Errorf("the gauge says %d", got)
	}
	return id
}

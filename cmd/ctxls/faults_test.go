package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asCtxls returns the program under test, which TestMain put on the PATH.
func asCtxls(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ctxls")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

type hookRun struct {
	stdout, stderr, log string
	exit                int
}

// runHook runs `ctxls hook claude-code` in an empty HOME with the given standard input and variables.
func runHook(t *testing.T, home string, stdin io.Reader, env ...string) hookRun {
	t.Helper()
	cmd := exec.Command(asCtxls(t), "hook", "claude-code")
	cmd.Stdin = stdin
	cmd.Dir = home
	cmd.Env = append(homeAt(home), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	log, _ := os.ReadFile(filepath.Join(home, "ctxls", "ctxls.log"))
	return hookRun{stdout.String(), stderr.String(), string(log), cmd.ProcessState.ExitCode()}
}

// quickRaces is for tests under the race detector. It removes a process's wait of one second at its end.
const quickRaces = "GORACE=atexit_sleep_ms=0"

// inTime runs hooks, each in its own home, until one does not give up. On a busy machine any hook may give up.
func inTime(t *testing.T, payload func(home string) string) hookRun {
	t.Helper()
	for range 50 {
		home := t.TempDir()
		if r := runHook(t, home, strings.NewReader(payload(home))); !strings.Contains(r.log+r.stderr, "hook gave up") {
			return r
		}
	}
	t.Fatal("50 hooks gave up")
	return hookRun{}
}

// A hook that waits for its payload gives up after half a second, or after the time in CTXLS_WAIT.
func TestHookWaits(t *testing.T) {
	for wait, says := range map[string]string{"": "not done within 500ms", "30": "not done within 30ms", "-1": "not done within 500ms", "soon": "not done within 500ms"} {
		never, open, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r := runHook(t, t.TempDir(), never, "CTXLS_WAIT="+wait)
		open.Close()
		never.Close()
		if r.exit != 0 || r.stdout != "" || !strings.Contains(r.log+r.stderr, says) {
			t.Errorf("CTXLS_WAIT=%q: exit %d, printed %q, want %q in:\n%s%s", wait, r.exit, r.stdout, says, r.log, r.stderr)
		}
	}
}

const batch = `{"session_id":"s","transcript_path":"TRANSCRIPT","cwd":"/p","hook_event_name":"PostToolBatch","tool_calls":[]}`

// After any fault of a host or a disk, a hook ends with 0, prints nothing, and logs one line.
func TestHookFaults(t *testing.T) {
	t.Run("garbage", func(t *testing.T) { wantLogged(t, runHook(t, t.TempDir(), strings.NewReader("garbage\x00\xff"))) })
	t.Run("nothing", func(t *testing.T) { wantLogged(t, runHook(t, t.TempDir(), strings.NewReader(""))) })
	t.Run("100 MB", func(t *testing.T) {
		huge := io.MultiReader(strings.NewReader(`{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"`), io.LimitReader(zeros{}, 100<<20), strings.NewReader(`"}`))
		wantLogged(t, runHook(t, t.TempDir(), huge))
	})
	t.Run("an unknown host", func(t *testing.T) {
		home := t.TempDir()
		cmd := exec.Command(asCtxls(t), "hook", "emacs", "--frob")
		cmd.Env = homeAt(home)
		if out, err := cmd.Output(); err != nil || len(out) > 0 {
			t.Errorf("printed %q, %v", out, err)
		}
	})
	for name, transcript := range map[string]func(dir string) string{
		"a missing transcript":         func(dir string) string { return filepath.Join(dir, "missing.jsonl") },
		"a directory for a transcript": func(dir string) string { return dir },
	} {
		t.Run(name, func(t *testing.T) {
			r := inTime(t, func(home string) string {
				return strings.Replace(batch, "TRANSCRIPT", strings.ReplaceAll(transcript(home), `\`, `\\`), 1)
			})
			if r.exit != 0 || r.stdout != "" || r.stderr != "" || strings.Count(r.log, "\n") != 1 || !strings.Contains(r.log, "transcript not read") {
				t.Errorf("%+v", r)
			}
		})
	}
	t.Run("the state's directory is a file", func(t *testing.T) {
		r := inTime(t, func(home string) string {
			if err := os.WriteFile(filepath.Join(home, "ctxls"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return batch
		})
		if r.exit != 0 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "hook failed") {
			t.Errorf("%+v", r)
		}
	})
}

// Gemini CLI shows standard error to users. So a hook writes nothing there, even without a log.
func TestHookSilentOnErrors(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "ctxls"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(asCtxls(t), "hook", "gemini-cli")
	cmd.Stdin = strings.NewReader(`{"session_id":"s","hook_event_name":"BeforeAgent","prompt":"hello"}`)
	cmd.Env = homeAt(home)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("printed %q, %v", out, err)
	}
}

// Hooks end without closing the state, and lose nothing. A hook that finds a long log still runs a checkpoint.
func TestHooksFoldTheLog(t *testing.T) {
	home, longest, folded := t.TempDir(), int64(0), false
	for i := 0; i < 200 && !folded; i++ {
		if r := runHook(t, home, strings.NewReader(strings.Replace(batch, "TRANSCRIPT", "", 1))); r.exit != 0 || strings.Count(r.log, "\n") != strings.Count(r.log, "hook gave up") {
			t.Fatalf("%+v", r)
		}
		info, err := os.Stat(filepath.Join(home, "ctxls", "state.db-wal"))
		folded = err != nil || info.Size() < longest
		if !folded {
			longest = info.Size()
		}
	}
	if !folded || longest < 100<<10 || longest > 1<<20 {
		t.Errorf("folded: %t, longest log %d bytes", folded, longest)
	}
}

func wantLogged(t *testing.T, r hookRun) {
	t.Helper()
	// On a slow machine the deadline may come before the fault.
	said := strings.Contains(r.log, "hook failed") || strings.Contains(r.log, "hook gave up")
	if r.exit != 0 || r.stdout != "" || r.stderr != "" || strings.Count(r.log, "\n") != 1 || !said {
		t.Errorf("exit %d, stdout %q, stderr %q, log:\n%s", r.exit, r.stdout, r.stderr, r.log)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A hook must not wait for a pipe in the place of a transcript.
func TestHookWithPipeForTranscript(t *testing.T) {
	r := inTime(t, func(home string) string {
		pipe := filepath.Join(home, "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		return strings.Replace(batch, "TRANSCRIPT", pipe, 1)
	})
	if r.exit != 0 || r.stdout != "" || strings.Count(r.log, "\n") != 1 || !strings.Contains(r.log, "not a regular file") {
		t.Errorf("%+v", r)
	}
}

// A read-only or full state directory. Each is a small file system of its own.
func TestHookOnBadDisks(t *testing.T) {
	for name, mount := range map[string]string{
		"read-only": `mount -t tmpfs -o size=1m tmpfs "$D" && mount -o remount,bind,ro "$D"`,
		"full":      `mount -t tmpfs -o size=64k tmpfs "$D" && { dd if=/dev/zero of="$D/filler" bs=4k 2>/dev/null; true; }`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			script := mount + ` && "$CTXLS" hook claude-code <<'END'` + "\n" + batch + "\nEND\n" + `echo "exit $?"`
			cmd := onDisk(t, dir, script)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			said := strings.Contains(stderr.String(), "hook failed") || strings.Contains(stderr.String(), "hook gave up") // as can happen on a busy machine
			if err != nil || string(out) != "exit 0\n" || strings.Count(stderr.String(), "\n") != 1 || !said {
				t.Errorf("%v, stdout %q, stderr:\n%s", err, out, stderr.String())
			}
		})
	}
}

// If Go's runtime gives up, it ends the process with status 2, which hosts treat as a veto. So a hook dies by a signal
// instead.
func TestHookNeverEndsWithTwo(t *testing.T) {
	stdin, hold, err := os.Pipe() // a host that sends its payload slowly
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	cmd := exec.Command(asCtxls(t), "hook", "claude-code")
	cmd.Stdin = stdin
	home := t.TempDir()
	cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "XDG_STATE_HOME=" + home}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !ignoresPipes(cmd.Process.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the hook did not begin")
		}
	}
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil { // the runtime's own exit status
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() && status.ExitStatus() != 0 {
		t.Errorf("it ended with %d", status.ExitStatus())
	}
}

// ignoresPipes reports whether a process ignores SIGPIPE, which a hook does at its start.
func ignoresPipes(pid int) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(status), "\nSigIgn:\t")
	mask, _, _ := strings.Cut(after, "\n")
	signals, _ := strconv.ParseUint(mask, 16, 64)
	return signals&(1<<(syscall.SIGPIPE-1)) != 0
}

// onDisk returns a shell that runs a script where it can mount a file system of its own on dir, as "$D", which is HOME too.
func onDisk(t *testing.T, dir, script string) *exec.Cmd {
	t.Helper()
	unshare := []string{"unshare", "-m"}
	if os.Getuid() != 0 {
		unshare = []string{"unshare", "-rm"}
	}
	if out, err := exec.Command(unshare[0], append(unshare[1:], "true")...).CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no mount namespaces on this machine: %v: %s", err, out)
		}
		t.Skipf("no mount namespaces on this machine: %v: %s", err, out)
	}
	cmd := exec.Command(unshare[0], append(unshare[1:], "sh", "-c", script)...)
	cmd.Env = append(os.Environ(), "D="+dir, "CTXLS="+asCtxls(t), "HOME="+dir, "XDG_STATE_HOME="+dir)
	return cmd
}

// On a read-only or full disk, a command that only reads shows the records of hosts, and what the state holds.
func TestReadersOnBadDisks(t *testing.T) {
	const record = `{"type":"assistant","uuid":"a1","sessionId":"8c1d0a72","cwd":"/srv/shop","timestamp":"2026-11-22T08:00:00Z",` +
		`"message":{"id":"m1","role":"assistant","model":"claude-opus-4-6","content":[],"usage":{"input_tokens":20000,"output_tokens":5}}}`
	const report = `{"event": "usage/reported", "sessionId": "kept", "cwd": "/srv/kept", "model": "claude-opus-4-6", "tokens": 150000}`
	for name, harm := range map[string]string{
		"read-only": `mount -o remount,bind,ro "$D"`,
		"full":      `{ dd if=/dev/zero of="$D/filler" bs=4k 2>/dev/null; true; }`,
	} {
		for _, stored := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stored %v", name, stored), func(t *testing.T) {
				script := `mount -t tmpfs -o size=2m tmpfs "$D" && mkdir -p "$D/.claude/projects/p" && echo '` + record + `' > "$D/.claude/projects/p/8c1d0a72.jsonl" && `
				if stored {
					script += `echo '` + report + `' | "$CTXLS" hook generic >/dev/null && `
				}
				script += harm + ` && "$CTXLS" sessions --all; echo "exit $?"`
				cmd := onDisk(t, t.TempDir(), script)
				cmd.Env = append(cmd.Env, "TMPDIR="+t.TempDir(), "CTXLS_WAIT=10000")
				var stderr strings.Builder
				cmd.Stderr = &stderr
				out, err := cmd.Output()
				said := strings.Count(stderr.String(), "what can be read is shown, and nothing is stored\n")
				if err != nil || !strings.Contains(string(out), " shop ") || strings.Contains(string(out), " kept ") != stored || !strings.HasSuffix(string(out), "\nexit 0\n") || !stored && said != 1 {
					t.Errorf("%v, %s\n%s", err, out, stderr.String())
				}
			})
		}
	}
}

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
	unshare := []string{"unshare", "-m"}
	if os.Getuid() != 0 {
		unshare = []string{"unshare", "-rm"}
	}
	if out, err := exec.Command(unshare[0], append(unshare[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no mount namespaces on this machine: %v: %s", err, out)
	}
	for name, mount := range map[string]string{
		"read-only": `mount -t tmpfs -o size=1m tmpfs "$D" && mount -o remount,bind,ro "$D"`,
		"full":      `mount -t tmpfs -o size=64k tmpfs "$D" && { dd if=/dev/zero of="$D/filler" bs=4k 2>/dev/null; true; }`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			script := mount + ` && "$CTXLS" hook claude-code <<'END'` + "\n" + batch + "\nEND\n" + `echo "exit $?"`
			cmd := exec.Command(unshare[0], append(unshare[1:], "sh", "-c", script)...)
			cmd.Env = append(os.Environ(), "D="+dir, "CTXLS="+asCtxls(t), "HOME="+dir, "XDG_STATE_HOME="+dir)
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

package test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A disk fills up while the state is in use, gets room again, and is then mounted read-only. Hooks end normally, and
// every answered event stays stored. After the fault, the state needs no repair.
func TestADiskThatFillsUp(t *testing.T) {
	unshare := []string{"unshare", "-m"}
	if os.Getuid() != 0 {
		unshare = []string{"unshare", "-rm"}
	}
	if out, err := exec.Command(unshare[0], append(unshare[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no mount namespaces on this machine: %v: %s", err, out)
	}
	m := newMachine(t)
	script := `set -eu
hook() { printf '%s' "$2" | "$CTXLS" hook generic > out 2> err && code=0 || code=$?; echo "$1 $code $(wc -c < err) $(cat out)"; }
mount -t tmpfs -o size=1m tmpfs "$XDG_STATE_HOME"
hook roomy '` + used("s", "roomy.go") + `'
dd if=/dev/zero of="$XDG_STATE_HOME/filler" bs=4k 2>/dev/null || true
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do hook full-$n "` + strings.ReplaceAll(used("s", "full-NUMBER.go"), `"`, `\"`) + `"; done
rm "$XDG_STATE_HOME/filler"
for n in 1 2 3 4 5 6 7 8; do hook again-$n "` + strings.ReplaceAll(used("s", "again-NUMBER.go"), `"`, `\"`) + `"; done
mount -o remount,bind,ro "$XDG_STATE_HOME"
hook readonly '` + used("s", "readonly.go") + `'
mount -o remount,bind,rw "$XDG_STATE_HOME"
ls "$XDG_STATE_HOME/ctxls" >&2
"$CTXLS" sessions --all --json > sessions
`
	state := filepath.Join(m.home, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(unshare[0], append(unshare[1:], "sh", "-c", strings.ReplaceAll(script, "NUMBER", "$n"))...)
	cmd.Dir, cmd.Env = m.home, []string{"HOME=" + m.home, "XDG_STATE_HOME=" + state, "PATH=" + os.Getenv("PATH"), "CTXLS=" + filepath.Join(m.bin, "ctxls"), "CTXLS_COMPACTION_MAX_PATHS=200"}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, stderr.String(), out)
	}
	shown, err := os.ReadFile(filepath.Join(m.home, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]int{}
	for line := range strings.Lines(string(out)) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 4)
		name, answer := fields[0], strings.Join(fields[3:], "")
		phase, _, _ := strings.Cut(name, "-")
		switch {
		case fields[1] != "0":
			t.Errorf("%s: exit status %s", name, fields[1])
		case answer == strings.TrimSpace(answered):
			if taken[phase]++; !strings.Contains(string(shown), `"`+name+`.go"`) {
				t.Errorf("%s was answered, and is lost:\n%s", name, shown)
			}
		case answer != "":
			t.Errorf("%s: %s", name, line)
		}
	}
	// On a busy machine some hooks may give up, but not all.
	if taken["again"] == 0 || taken["full"] == 20 || taken["readonly"] > 0 || strings.Contains(stderr.String(), "corrupt") {
		t.Errorf("answered: %v; in the state's directory: %s\n%s", taken, stderr.String(), out)
	}
	t.Logf("answered: %v", taken)
}

// Hosts end hooks by signals, close shared pipes, or start hooks without pipes. No hook ends with a status that a host
// treats as a veto, and no hook writes to a wrong file.
func TestHostsThatEndTheirHooks(t *testing.T) {
	m := newMachine(t)
	for _, sent := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE} {
		cmd := m.command("hook", "claude-code")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		io.WriteString(stdin, `{"session_id":"s",`)
		time.Sleep(20 * time.Millisecond)
		_ = cmd.Process.Signal(sent) // by now the hook may have given up
		_ = cmd.Wait()
		stdin.Close()
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() && status.ExitStatus() != 0 || out.Len() > 0 {
			t.Errorf("%v: it ended with %v and printed %q", sent, cmd.ProcessState, out.String())
		}
	}
	for i, closed := range []string{">&-", "2>&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-"} {
		file := fmt.Sprintf("closed-%d.go", i)
		before := m.givenUp()
		for attempt := 0; ; attempt++ {
			cmd := exec.Command("sh", "-c", `exec "$0" hook generic `+closed, filepath.Join(m.bin, "ctxls"))
			cmd.Env, cmd.Dir = m.command().Env, m.home
			cmd.Stdin = strings.NewReader(used("s", file))
			if err := cmd.Run(); err != nil {
				t.Fatalf("%s: %v", closed, err)
			}
			if strings.Contains(closed, "<&-") || len(m.missing("s", []string{file})) == 0 {
				break
			}
			if attempt == 50 {
				t.Fatalf("%s: nothing is taken note of:\n%s", closed, m.log())
			}
		}
		if strings.Contains(closed, "<&-") && m.givenUp() == before {
			t.Errorf("%s: that there was nothing to read is not logged", closed)
		}
	}
	m.sound()
}

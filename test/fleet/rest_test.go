//go:build linux && fleet

package fleet

import (
	"bytes"
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

	"github.com/ctxls/ctxls/internal/team/teamtest"
)

// What a pusher costs its machine: at rest, and the hooks that run beside it.
func TestBenchOfOneMachine(t *testing.T) {
	if os.Getenv("CTXLS_FLEET_BENCH") == "" {
		t.Skip("make fleet-bench runs it")
	}
	w := newTestEnv(t)
	m := teamtest.NewMachine(t, "")
	for i := range 20 {
		for range 100 {
			m.Grow(t, fmt.Sprint("s", i), 1000*(i+1))
		}
	}
	cmd := w.command("alice", "push", "--watch", state(m))
	pusher := teamtest.Serve(t, cmd, "")
	until(t, "all is sent", func() bool {
		return w.Query(t, w.database, "SELECT count(*) FROM ctxls.samples")[0] == "2000"
	})
	time.Sleep(3 * time.Second)
	const rest = 60 * time.Second
	before := cpuOf(t, pusher.PID())
	time.Sleep(rest)
	fmt.Printf("a pusher at rest          %.3f %% of a core, %d MB   (bar: 0.1 %%, 40 MB)\n", float64(cpuOf(t, pusher.PID())-before)/float64(rest)*100, residentOf(t, pusher.PID())>>20)

	payload := []byte(`{"session_id":"s1","cwd":"/srv/project","hook_event_name":"UserPromptSubmit","prompt":"go on"}`)
	hook := func() time.Duration {
		cmd := exec.Command(filepath.Join(bin, "ctxls"), "hook", "claude-code")
		cmd.Env, cmd.Stdin = []string{"HOME=/nonexistent", "CTXLS_STORE_PATH=" + filepath.Join(m.Dir, "state.db")}, bytes.NewReader(payload)
		started := time.Now()
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		return time.Since(started)
	}
	var with, without []time.Duration
	for i := range 1000 { // in turns, so that whatever else the machine does meets both
		signal := syscall.SIGCONT
		if i%2 == 0 {
			signal = syscall.SIGSTOP
		}
		if err := syscall.Kill(pusher.PID(), signal); err != nil {
			t.Fatal(err)
		}
		if took := hook(); i%2 == 0 {
			without = append(without, took)
		} else {
			with = append(with, took)
		}
	}
	_ = syscall.Kill(pusher.PID(), syscall.SIGCONT)
	slices.Sort(with)
	slices.Sort(without)
	a, b := with[len(with)/2], without[len(without)/2]
	fmt.Printf("a hook                    %v with a pusher watching, %v without: %+.1f %%   (bar: 2 %%)\n", a.Round(10*time.Microsecond), b.Round(10*time.Microsecond), (float64(a)/float64(b)-1)*100)
}

// cpuOf returns the time that a process has used.
func cpuOf(t *testing.T, pid int) (sum time.Duration) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // in nanoseconds, first
	if err != nil || len(threads) == 0 {
		t.Fatalf("process %d: %v", pid, err)
	}
	for _, file := range threads {
		if text, err := os.ReadFile(file); err == nil {
			ns, _ := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
			sum += time.Duration(ns)
		}
	}
	return sum
}

// residentOf returns the memory that a process holds, in bytes.
func residentOf(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10
		}
	}
	return 0
}

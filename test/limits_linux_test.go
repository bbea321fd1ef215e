package test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// siege returns the number of repetitions: few in an ordinary run, and CTXLS_SIEGE in a siege.
func siege(few int) int {
	if n, err := strconv.Atoi(os.Getenv("CTXLS_SIEGE")); err == nil {
		return n
	}
	return few
}

// If threads or memory are limited, or a signal comes early, Go's runtime ends a process with status 2 before main.
// Hosts treat 2 as a veto. The installed command hides this status, in any number of starts.
func TestNoLimitMakesAVeto(t *testing.T) {
	bin := buildAll(t)
	home := t.TempDir()
	for _, dir := range []string{bin, home, filepath.Dir(home)} { // another user starts the program too
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	state := filepath.Join(home, "state")
	if err := os.Mkdir(state, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(state, 0o777); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home, "XDG_STATE_HOME=" + state, "PATH=" + bin + ":/usr/bin:/bin"}
	type entry struct {
		Command string
		Args    []string
	}
	installed := func(host, file, event string) entry {
		cmd := exec.Command(filepath.Join(bin, "ctxls"), "install", host)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var s struct {
			Hooks map[string][]struct{ Hooks []entry }
		}
		text, err := os.ReadFile(filepath.Join(home, file))
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		if err != nil || len(s.Hooks[event]) == 0 {
			t.Fatalf("%s: %v: %s", host, err, text)
		}
		return s.Hooks[event][0].Hooks[0]
	}
	claude := installed("claude-code", ".claude/settings.json", "UserPromptSubmit")
	codex := installed("codex", ".codex/hooks.json", "UserPromptSubmit")
	gemini := installed("gemini-cli", ".gemini/settings.json", "BeforeAgent")
	qwen := installed("qwen-code", ".qwen/settings.json", "UserPromptSubmit")
	hosts := map[string][]string{ // started in the way of the hosts
		"claude-code": append([]string{claude.Command}, claude.Args...),
		"codex":       {"/bin/bash", "-lc", codex.Command},
		"gemini-cli":  {"/bin/bash", "-c", gemini.Command},
		"qwen-code":   {"/bin/bash", "-c", qwen.Command},
	}
	run := func(limit string, argv []string, signal syscall.Signal) (status int, said string) {
		cmd := exec.Command("/bin/sh", append([]string{"-c", limit + ` exec "$@"`, "limited"}, argv...)...)
		cmd.Env, cmd.Dir = env, home
		cmd.Stdin = strings.NewReader(`{"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "hello", "cwd": "/"}`)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if os.Geteuid() == 0 && strings.Contains(limit, "-u") { // root ignores this limit
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 64_999, Gid: 64_999}
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if signal != 0 {
			time.Sleep(time.Duration(rand.IntN(12_000)) * time.Microsecond)
			_ = syscall.Kill(-cmd.Process.Pid, signal)
		}
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode(), stderr.String()
	}
	limits := []string{"ulimit -u 2;", "ulimit -u 3;", "ulimit -u 4;", "ulimit -v 80000;", "ulimit -v 200000;", "ulimit -v 400000;", "ulimit -v 700000;"}
	if status, said := run("ulimit -v 200000;", []string{filepath.Join(bin, "ctxls"), "hook", "claude-code"}, 0); status != 2 {
		t.Logf("without the guard it ends with %d here, not with a veto: %s", status, said)
	}
	for host, argv := range hosts {
		n := siege(3)
		if host != "claude-code" {
			n = (n + 9) / 10
		}
		ends := map[string]map[int]int{}
		try := func(name, limit string, signal syscall.Signal) {
			ends[name] = map[int]int{}
			for range n {
				status, said := run(limit, argv, signal)
				ends[name][status]++
				if status == 2 || status != 0 && signal == 0 {
					t.Errorf("%s under %s ends with %d: %s", host, name, status, said)
					return
				}
			}
		}
		for _, limit := range limits {
			try(limit, limit, 0)
		}
		for _, signal := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGSYS} {
			try(signal.String(), "", signal)
		}
		t.Logf("%s: statuses of %d starts each: %s", host, n, fmt.Sprint(ends))
	}
}

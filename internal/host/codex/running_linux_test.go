package codex

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
)

// While Codex runs a session, it holds a lock whose file stays. The lock is seen and not taken.
func TestTheProcessOfARunningSession(t *testing.T) {
	home := t.TempDir()
	records := NewRecords(host.Env{Getenv: func(string) string { return "" }, Home: home})
	const id = "01a1fd85-06f1-79d2-92ec-ec01e78a094c"
	data, err := os.ReadFile(filepath.Join("testdata", "rollouts", "basic-and-resume-"+id+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	rollout := filepath.Join(home, ".codex", "sessions", "2026", "11", "21", "rollout-2026-11-21T09-51-56-"+id+".jsonl")
	locks := filepath.Join(home, ".codex", "thread-writer-locks")
	for _, dir := range []string{filepath.Dir(rollout), locks} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(rollout, data, 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := os.Create(filepath.Join(locks, id+".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	process := func() int {
		events, err := records.Read(t.Context(), core.Record{Key: session.Key{Host: Name, SessionID: id}, Path: rollout, ModTime: time.Now()}, true)
		if err != nil || len(events) < 2 {
			t.Fatalf("%d events, %v", len(events), err)
		}
		return events[1].HostPID
	}
	if got := process(); got != 0 {
		t.Errorf("without a lock: process %d", got)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	if got := process(); got != os.Getpid() {
		t.Errorf("with the lock: process %d, want %d", got, os.Getpid())
	}
}

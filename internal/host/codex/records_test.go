package codex

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
)

// Records tell of a sub-agent what hooks tell: it has ended, and its role is the default one.
func TestSubAgentOfARecord(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".codex", "sessions", "2026", "11", "21")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const top, side = "01a1fe77-4a93-7460-ad5e-8cdbfaf22d77", "01a1fe77-4e12-7bf3-beb1-2834d821d41a"
	place := func(id string) string { return filepath.Join(dir, "rollout-2026-11-21T14-16-33-"+id+".jsonl") }
	for name, id := range map[string]string{"agent-main-": top, "agent-side-": side} {
		data, err := os.ReadFile(filepath.Join("testdata", "rollouts", name+id+".jsonl"))
		if err == nil {
			err = os.WriteFile(place(id), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	records := NewRecords(host.Env{Getenv: func(string) string { return "" }, Home: home})
	events, err := records.Read(t.Context(), core.Record{Key: session.Key{Host: Name, SessionID: top}, Path: place(top), ModTime: time.Now()}, true)
	if err != nil || len(events) != 3 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	if a := events[2]; a.AgentID != side || a.AgentType != "default" || a.Kind != session.AgentFinished {
		t.Errorf("the sub-agent: %s %q is %s", a.AgentID, a.AgentType, a.Kind)
	}
}

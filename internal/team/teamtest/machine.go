//go:build linux && fleet

package teamtest

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/store/sqlite"
	"github.com/ctxls/ctxls/internal/team/push"
)

// Machine is a machine with a real store, whose sessions a test lets grow.
type Machine struct {
	Dir     string
	Store   *sqlite.Store
	Service *core.Service
	// Start is when its first session begins; each Grow takes a second.
	Start time.Time
	// Model is that of new sessions.
	Model string
	grown map[string]int
	// deleted counts sessions that were forgotten. One of the same id begins at another instant, as it does in a real host.
	deleted int
}

// NewMachine makes a machine whose state lies in dir; "" is a new directory.
func NewMachine(t testing.TB, dir string) *Machine {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	s, err := sqlite.Open(context.Background(), sqlite.Options{Path: filepath.Join(dir, "state.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	cfg := settings.Default()
	return &Machine{Dir: dir, Store: s, Start: time.Now().Add(-time.Minute).Truncate(time.Millisecond), grown: map[string]int{}, Model: "claude-sonnet-4-6",
		Service: &core.Service{Store: s, Config: func(string) settings.Config { return cfg }, Now: time.Now}}
}

// Key returns the key of a session.
func Key(id string) session.Key { return session.Key{Host: session.HostClaudeCode, SessionID: id} }

// Grow lets a session make a turn: it holds so many tokens then, and its task had as many. A session that falls was compacted.
func (m *Machine) Grow(t testing.TB, id string, tokens int) {
	t.Helper()
	m.grown[id]++
	n := m.grown[id]
	at := m.Start.Add(time.Duration(n) * time.Second)
	task := fleet.Task{ID: fmt.Sprintf("%s%d", session.TurnTaskPrefix(Key(id)), n), Tokens: tokens, At: at}
	q := core.Query{Key: Key(id), Task: func(session.Session) string { return task.ID }, WindowTasks: 1000}
	err := m.Store.Update(context.Background(), q, func(st session.State) session.Changes {
		s := st.Session
		if !st.Known {
			s = session.Session{Host: session.HostClaudeCode, SessionID: id, CWD: "/home/alice/payroll", Title: "a title of " + id, Model: m.Model, StartedAt: m.Start.Add(time.Duration(m.deleted) * time.Millisecond)}
		}
		kind := session.SampleUsage
		if tokens < s.Gauge.Tokens {
			kind = session.SampleCompaction
			s.Compaction.Count++
		}
		s.Gauge = session.Gauge{Known: true, Tokens: tokens, Provenance: session.ProvenanceTranscript, At: at}
		s.UpdatedAt = at
		return session.Changes{Session: &s, Samples: []session.Sample{{At: at, Tokens: tokens, WindowTokens: 200_000, Kind: kind}}, Task: &task, WindowTasks: 1000,
			Paths: []session.PathUse{{Path: "/home/alice/payroll/salaries.csv", Use: session.Edited, At: at}}}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Delete forgets a session.
func (m *Machine) Delete(t testing.TB, id string) {
	t.Helper()
	delete(m.grown, id)
	m.deleted++
	err := m.Store.Update(context.Background(), core.Query{Key: Key(id)}, func(session.State) session.Changes { return session.Changes{Delete: true} })
	if err != nil {
		t.Fatal(err)
	}
}

// Pusher returns what copies the machine to a sink.
func (m *Machine) Pusher(t testing.TB, sink push.Sink, schema int) (*push.Pusher, *push.Identity) {
	t.Helper()
	id, err := push.OpenIdentity(m.Dir, false)
	if err != nil {
		t.Fatal(err)
	}
	return &push.Pusher{
		Source: push.Local{Service: m.Service, Archive: m.Store}, Sink: sink, Machine: id.Machine,
		Claim:   func() ([]string, string, error) { return id.Next("test") },
		Claimed: func(claim string) error { return id.Granted("test", claim) },
		Redact:  push.Redaction{Salt: id.Salt, Team: "blue", Projects: push.ProjectHash},
		Version: "test", Schema: schema, Now: time.Now,
	}, id
}

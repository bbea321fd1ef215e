package sqlite

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// After a session is deleted, its data is in none of the files' bytes.
func TestForgottenSessionsLeaveNoBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	key := session.Key{Host: session.HostClaudeCode, SessionID: "s1"}
	update := func(changes session.Changes) {
		t.Helper()
		if err := s.Update(t.Context(), core.Query{Key: key}, func(session.State) session.Changes { return changes }); err != nil {
			t.Fatal(err)
		}
	}
	update(session.Changes{Session: &session.Session{Host: key.Host, SessionID: key.SessionID, CWD: "/secret-directory", Title: "secret-title", PromptText: "secret-prompt"},
		Paths: []session.PathUse{{Path: "/secret-path", Use: session.Read, At: time.Now()}}})
	secrets := []string{"secret-directory", "secret-title", "secret-prompt", "secret-path"}
	found := func() (left []string) {
		for _, name := range []string{path, path + "-wal"} {
			data, err := os.ReadFile(name)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			for _, secret := range secrets {
				if bytes.Contains(data, []byte(secret)) {
					left = append(left, filepath.Base(name)+": "+secret)
				}
			}
		}
		return left
	}
	if len(found()) < len(secrets) {
		t.Fatalf("the session is not in the files: %v", found())
	}
	update(session.Changes{Delete: true})
	if left := found(); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// Another process may be running a checkpoint, or reading, while the log is being emptied.
func TestForgettingWaitsForOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s, other := open(t, path), open(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_ = other.run(ctx, false, func(ctx context.Context, c *conn) error {
				var busy, pages, folded int
				_, err := c.row(ctx, "PRAGMA wal_checkpoint(FULL)", nil, &busy, &pages, &folded)
				return err
			})
		}
	}()
	defer func() { cancel(); <-done }()
	key := session.Key{Host: session.HostClaudeCode, SessionID: "s1"}
	for i := range repeat(100) {
		for _, changes := range []session.Changes{
			{Session: &session.Session{Host: key.Host, SessionID: key.SessionID, Title: "secret-title"}},
			{Delete: true},
		} {
			if err := s.Update(t.Context(), core.Query{Key: key}, func(session.State) session.Changes { return changes }); err != nil {
				t.Fatal(err)
			}
		}
		log, err := os.ReadFile(path + "-wal")
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if bytes.Contains(log, []byte("secret-title")) {
			t.Fatalf("round %d: the log still has it", i)
		}
	}
}

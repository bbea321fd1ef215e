package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	modernc "modernc.org/sqlite"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// oldState makes a state of the first format, with one session, and returns its path.
func oldState(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	connector, err := modernc.NewConnector(dsn(path, time.Second))
	if err != nil {
		t.Fatal(err)
	}
	c, err := connector.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := step(t.Context(), c, 0); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{
		`INSERT INTO sessions (host, session_id, cwd, updated_at, ended_at, added, data) VALUES ('codex', 'old', '/home/ada', 1, 0, 0, '{"Turns": 7}')`,
		`INSERT INTO windows VALUES ('claude-code', 'anthropic', 'claude-opus-4-6', 310000, 0, 'accepted', 0)`,
	} {
		if err := execute(t.Context(), c, script); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// inspectRole looks at the store again and again, as doctor does, and fails at anything wrong.
func inspectRole(ctx context.Context, path string, args []string) error {
	n, err := strconv.Atoi(args[0])
	for range n {
		in := Inspect(ctx, path, true)
		switch {
		case in.Unreadable != nil && in.Exists, in.Unwritable != nil, len(in.Damage) > 0, len(in.Aside) > 0, in.Abandoned:
			return fmt.Errorf("%+v", in)
		}
	}
	return err
}

// forgetRole adds sessions, and forgets each of them.
func forgetRole(ctx context.Context, path string, args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	s, err := must(ctx, path)
	if err != nil {
		return err
	}
	key := session.Key{Host: session.HostGeneric, SessionID: "of " + args[1]}
	for range n {
		for _, changes := range []session.Changes{{Session: &session.Session{Host: key.Host, SessionID: key.SessionID}}, {Delete: true}} {
			if err := s.Update(ctx, core.Query{Key: key}, func(session.State) session.Changes { return changes }); err != nil {
				return errors.Join(err, s.Close())
			}
		}
	}
	return s.Close()
}

// Eight processes find an old state at once: one brings it up to date, and each makes its update.
func TestManyProcessesFindAnOldState(t *testing.T) {
	const processes = 8
	for range repeat(5) {
		path := oldState(t)
		for _, output := range together(t, processes, "open", path) {
			if output != "" {
				t.Error(output)
			}
		}
		s := open(t, path)
		fleet, err := s.Fleet(t.Context(), 0)
		if err != nil || fleet.Trim.Operations != processes {
			t.Errorf("%d of %d updates are there: %v", fleet.Trim.Operations, processes, err)
		}
		if old, err := s.Session(t.Context(), session.Key{Host: session.HostCodex, SessionID: "old"}); err != nil || old.Session.Turns != 7 {
			t.Errorf("the old session is %+v: %v", old, err)
		}
	}
}

// Of eight processes four update a session, two forget others, and two inspect the state as doctor does. It begins with no state.
func TestManyProcessesDoDifferentThings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	each := repeat(100)
	done := make(chan bool)
	for i := range 4 {
		go func() {
			defer func() { done <- true }()
			if i < 2 {
				together(t, 1, "forget", path, fmt.Sprint(each), fmt.Sprint(i))
			} else {
				together(t, 1, "inspect", path, fmt.Sprint(each))
			}
		}()
	}
	together(t, 4, "count", path, fmt.Sprint(each), "event")
	for range 4 {
		<-done
	}
	sessions, err := open(t, path).Sessions(t.Context(), core.SessionFilter{IncludeEnded: true})
	if err != nil || len(sessions) != 1 || sessions[0].Session.Turns != 4*each {
		t.Errorf("want one session of %d turns: %+v, %v", 4*each, sessions, err)
	}
}

// While a process creates the state, its log exists for a moment beside an empty database. Inspect must not call that log abandoned.
func TestNothingIsAbandonedWhileTheStateIsCreated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	for _, name := range []string{path, path + "-wal"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	creator, err := lock(t.Context(), path, false, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if Inspect(t.Context(), path, true).Abandoned {
		t.Error("abandoned while a process holds the lock")
	}
	creator.Close()
	if !Inspect(t.Context(), path, true).Abandoned {
		t.Error("not abandoned afterwards")
	}
}

//go:build linux && fleet

package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/team/postgres"
	"github.com/ctxls/ctxls/internal/team/push"
	"github.com/ctxls/ctxls/internal/team/teamtest"
)

func TestPushCopiesWhatChanged(t *testing.T) {
	tm := newTeam(t)
	a, b := teamtest.NewMachine(t, ""), teamtest.NewMachine(t, "")
	pa, _ := a.Pusher(t, tm.open(t, "alice"), postgres.Schema)
	pb, _ := b.Pusher(t, tm.open(t, "alice"), postgres.Schema)
	step := func(what string, change func()) {
		t.Helper()
		change()
		pushAll(t, pa)
		pushAll(t, pb)
		tm.equal(t, a, b)
		if t.Failed() {
			t.Fatal("after", what)
		}
	}
	step("the first sessions", func() {
		for i := range 20 {
			a.Grow(t, "one", 10_000*(i+1))
			b.Grow(t, "one", 9_000*(i+1))
		}
	})
	step("nothing", func() {})
	step("a compaction", func() { a.Grow(t, "one", 30_000) })
	step("a second session", func() { a.Grow(t, "two", 250_000); b.Grow(t, "one", 190_000) })
	step("a session that is forgotten", func() { a.Delete(t, "one") })
	step("one of the same id", func() {
		a.Delete(t, "two")
		a.Start = a.Start.Add(10 * time.Second)
		a.Grow(t, "two", 5_000)
	})
	step("another pusher", func() {
		pa, _ = a.Pusher(t, tm.open(t, "alice"), postgres.Schema)
		a.Grow(t, "two", 6_000)
	})
}

// A machine that was offline for long has more to send than one batch holds, and the other end forgets nothing of it half-way.
func TestALongAbsence(t *testing.T) {
	tm := newTeam(t)
	m := teamtest.NewMachine(t, "")
	m.Start = m.Start.Add(-8 * 24 * time.Hour)
	for i := range 5 {
		for range 1000 {
			m.Grow(t, fmt.Sprint("s", i), 1000+i)
		}
	}
	p, _ := m.Pusher(t, tm.open(t, "alice"), postgres.Schema)
	pushAll(t, p)
	tm.equal(t, m)
	for i := range 1100 { // more than the store remembers
		id := fmt.Sprint("short", i)
		m.Grow(t, id, 500)
		m.Delete(t, id)
	}
	m.Delete(t, "s3")
	m.Grow(t, "s4", 77_000)
	pushAll(t, p)
	if rows := tm.Query(t, tm.name, "SELECT session FROM ctxls.sessions"); len(rows) != 4 {
		t.Errorf("%d sessions, want 4", len(rows))
	}
}

func TestWhoMayWriteWhat(t *testing.T) {
	tm := newTeam(t)
	m := teamtest.NewMachine(t, "")
	m.Grow(t, "one", 1000)
	p, id := m.Pusher(t, tm.open(t, "alice"), postgres.Schema)
	pushAll(t, p)

	// Another login that knows the machine's id, and even its claim.
	p2, _ := m.Pusher(t, tm.open(t, "mallory"), postgres.Schema)
	if _, err := p2.Push(t.Context()); err == nil || !strings.Contains(err.Error(), "another login") {
		t.Errorf("another login: %v", err)
	}
	err := tm.open(t, "mallory").Push(t.Context(), []push.Batch{{Machine: id.Machine, Claim: id.Claims["test"][0], Now: time.Now().UnixMilli(), Whole: true, Revision: 1}})
	if err == nil {
		t.Error("another login has deleted everything")
	}
	tm.equal(t, m)
	for login, statements := range map[string][]string{
		"mallory": {"SELECT * FROM ctxls.machines", "SELECT * FROM ctxls.sessions", "SELECT * FROM ctxls.samples", "SELECT * FROM ctxls.tasks", "SELECT * FROM ctxls.compactions",
			"INSERT INTO ctxls.tasks VALUES (now(), 1, 1, 1, '', '', '')", "UPDATE ctxls.machines SET owner = 'mallory'", "DELETE FROM ctxls.sessions", "SELECT ctxls.add_day('2026-01-01')",
			"SET ROLE ctxls_writer"},
		"rita": {"INSERT INTO ctxls.tasks VALUES (now(), 1, 1, 1, '', '', '')", "UPDATE ctxls.machines SET owner = 'rita'", "DELETE FROM ctxls.sessions", "SELECT ctxls.push('{}')"},
	} {
		for _, statement := range statements {
			if err := tm.try(t, login, statement); err == nil || !strings.Contains(err.Error(), "permission denied") {
				t.Errorf("%s: %s: %v", login, statement, err)
			}
		}
	}
	// Row security holds even what the functions run as: it sees one machine, and writes no other's.
	tm.Exec(t, "postgres", "GRANT ctxls_writer TO mallory")
	if err := tm.try(t, "mallory", "SET ROLE ctxls_writer; SET ctxls.machine = '1'; UPDATE ctxls.machines SET team = 'red'; INSERT INTO ctxls.tasks VALUES (now(), 2, 1, 1, '', '', '')"); err == nil || !strings.Contains(err.Error(), "row-level security") {
		t.Errorf("a row of another machine: %v", err)
	}
	if got := tm.Query(t, tm.name, "SELECT team FROM ctxls.machines"); got[0] != "blue" {
		t.Errorf("mallory has changed alice's machine: %q", got)
	}
}

func TestAMachineThatIsCopied(t *testing.T) {
	tm := newTeam(t)
	m := teamtest.NewMachine(t, "")
	m.Grow(t, "one", 1000)
	original, _ := m.Pusher(t, tm.open(t, "alice"), postgres.Schema)
	pushAll(t, original)
	clone, id := m.Pusher(t, tm.open(t, "alice"), postgres.Schema) // with the identity as it lay on the disk
	_ = id
	pushAll(t, clone)
	m.Grow(t, "one", 2000)
	_, err := original.Push(t.Context())
	wantHint(t, err, "another machine has pushed under this machine's id", "--new-id")
	again, _ := m.Pusher(t, tm.open(t, "alice"), postgres.Schema)
	again.Claim = func() ([]string, string, error) {
		return []string{"11111111-1111-4111-8111-111111111111"}, "22222222-2222-4222-8222-222222222222", nil
	}
	again.Claimed = func(string) error { return nil }
	_, err = again.Push(t.Context())
	wantHint(t, err, "another machine has pushed under this machine's id", "--take-over")
	again.TakeOver = true
	pushAll(t, again)
	tm.equal(t, m)
}

func TestAClockThatIsWrong(t *testing.T) {
	tm := newTeam(t)
	m := teamtest.NewMachine(t, "")
	m.Grow(t, "one", 1000)
	for shift, want := range map[time.Duration]string{3 * time.Hour: "ahead of", -3 * time.Hour: "behind"} {
		p, _ := m.Pusher(t, tm.open(t, "alice"), postgres.Schema)
		p.Now = func() time.Time { return time.Now().Add(shift) }
		_, err := p.Push(t.Context())
		wantHint(t, err, want, "set the clock")
	}
	p, _ := m.Pusher(t, tm.open(t, "alice"), postgres.Schema)
	p.Now = func() time.Time { return time.Now().Add(4 * time.Minute) }
	pushAll(t, p)
	tm.equal(t, m)
}

func TestErrorsThatAPersonCanActOn(t *testing.T) {
	tm := newTeam(t)
	m := teamtest.NewMachine(t, "")
	m.Grow(t, "one", 1000)
	good := tm.URL("alice", tm.name)
	empty := tm.Database(t)
	for _, c := range []struct{ url, want, hint string }{
		{strings.Replace(good, ":a%20secret", ":wrong-secret-", 1), "refuses the login", ".pgpass"},
		{strings.Replace(good, tm.name, "nowhere", 1), `no database "nowhere"`, "createdb"},
		{strings.Replace(good, fmt.Sprint(tm.Port), fmt.Sprint(teamtest.FreePort(t)), 1), "nothing listens", "server running"},
		{strings.Replace(good, "sslmode=disable", "sslmode=verify-full", 1), "refused TLS", "sslmode"},
		{tm.URL("owner", empty), "no schema of ctxls", "ctxls-fleet migrate"},
		{tm.URL("rita", tm.name), "may not do that", "ctxls_pusher"},
	} {
		db, err := postgres.Open(c.url)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		p, _ := m.Pusher(t, db, postgres.Schema)
		_, err = p.Push(t.Context())
		wantHint(t, err, c.want, c.hint)
	}
	_, err := postgres.Open("postgres://alice:hush-hush@[::1/x")
	wantHint(t, err, "cannot be read", ".pgpass")

	tm.Exec(t, tm.name, "CREATE OR REPLACE FUNCTION ctxls.schema_version() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 99'")
	p, _ := m.Pusher(t, tm.open(t, "alice"), postgres.Schema)
	_, err = p.Push(t.Context())
	wantHint(t, err, "schema 99", "newer ctxls-fleet")
	_, _, err = tm.open(t, "owner").Migrate(t.Context())
	wantHint(t, err, "schema 99", "newer ctxls-fleet")
}

// Many programs migrate at once, and one of them does.
func TestMigrationsAtOnce(t *testing.T) {
	tm := newTeam(t)
	tm.name = tm.Database(t)
	done := make(chan error)
	for range 8 {
		db := tm.open(t, "owner")
		go func() {
			_, _, err := db.Migrate(t.Context())
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// wantHint holds an error against what it is to say and to advise. It never tells a password.
func wantHint(t *testing.T, err error, what, hint string) {
	t.Helper()
	e, ok := errors.AsType[*postgres.Error](err)
	if !ok || !strings.Contains(e.What, what) || !strings.Contains(e.Hint, hint) {
		t.Errorf("got %#v (%v), want %q with the advice %q", err, err, what, hint)
	}
	for _, secret := range []string{teamtest.Password, "secret", "hush"} {
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("it tells the password: %v", err)
		}
	}
}

// try runs a statement as a login.
func (tm team) try(t *testing.T, login, statement string) error {
	t.Helper()
	return teamtest.Try(tm.URL(login, tm.name), statement)
}

//go:build linux && fleet

package postgres_test

import (
	"testing"

	"github.com/ctxls/ctxls/internal/team/postgres"
	"github.com/ctxls/ctxls/internal/team/push"
	"github.com/ctxls/ctxls/internal/team/teamtest"
)

// team is a database with the schema, and the logins that a team has.
type team struct {
	*teamtest.Postgres
	name string
}

// newTeam starts a server of the test's own, with a migrated database.
func newTeam(t *testing.T, options ...string) team {
	t.Helper()
	server := teamtest.StartPostgres(t, append(options, "fsync=off")...) // the machine does not die, only processes do
	tm := team{server, server.Database(t)}
	if before, after, err := tm.open(t, "owner").Migrate(t.Context()); err != nil || before != 0 || after != postgres.Schema {
		t.Fatalf("Migrate: from %d to %d, %v", before, after, err)
	}
	server.Login(t, "alice", "ctxls_pusher")
	server.Login(t, "mallory", "ctxls_pusher")
	server.Login(t, "rita", "ctxls_reader")
	return tm
}

func (tm team) open(t *testing.T, login string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(tm.URL(login, tm.name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// pushAll pushes until nothing is left.
func pushAll(t *testing.T, p *push.Pusher) {
	t.Helper()
	for {
		some, err := p.Push(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !some {
			return
		}
	}
}

// equal holds every table of the database against what the machines hold, row by row.
func (tm team) equal(t *testing.T, machines ...*teamtest.Machine) {
	t.Helper()
	tm.Equal(t, tm.name, machines...)
}

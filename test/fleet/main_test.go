//go:build linux && fleet

// Package fleet tests the real ctxls-fleet against real servers.
package fleet

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/team/teamtest"
)

// bin is where the programs of this tree are.
var bin string

func TestMain(m *testing.M) {
	if spec := os.Getenv(simulateVar); spec != "" {
		if err := simulate(spec); err != nil {
			fmt.Fprintln(os.Stderr, "simulate:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "ctxls-fleet-")
	if err != nil {
		panic(err)
	}
	bin = dir
	if out, err := exec.Command("go", "build", "-o", dir, "../../cmd/ctxls", "../../cmd/ctxls-fleet").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s", out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// testEnv is a server with a database that is ready, and its logins.
type testEnv struct {
	*teamtest.Postgres
	database string
}

func newTestEnv(t *testing.T, options ...string) testEnv {
	t.Helper()
	server := teamtest.StartPostgres(t, append(options, "fsync=off")...) // the machine does not die, only processes do
	w := testEnv{server, server.Database(t)}
	w.fleet(t, "owner", "migrate")
	server.Login(t, "alice", "ctxls_pusher")
	server.Login(t, "rita", "ctxls_reader")
	return w
}

// command makes a ctxls-fleet of a login. It is told the database by libpq's environment.
func (w testEnv) command(login string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, "ctxls-fleet"), args...)
	cmd.Env = []string{"HOME=/nonexistent", "PATH=/usr/bin:/bin", "PGHOST=127.0.0.1", fmt.Sprint("PGPORT=", w.Port), "PGUSER=" + login, "PGPASSWORD=" + teamtest.Password,
		"PGDATABASE=" + w.database, "PGSSLMODE=disable"}
	return cmd
}

// fleet runs ctxls-fleet to its end and returns what it prints.
func (w testEnv) fleet(t *testing.T, login string, args ...string) string {
	t.Helper()
	return output(t, w.command(login, args...))
}

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args[1:], " "), err, stderr.String())
	}
	return stdout.String()
}

// state is the flag that names a machine's state.
func state(m *teamtest.Machine) string { return "--state=" + filepath.Join(m.Dir, "state.db") }

// until waits for something that comes about by itself.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("a minute has passed, and not yet: %s", what)
		}
	}
}

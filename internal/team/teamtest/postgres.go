//go:build linux && fleet

// Package teamtest starts real servers for tests: PostgreSQL, Prometheus, the OpenTelemetry collector. Each has a directory and free ports of its own,
// listens on loopback only and ends with the test.
package teamtest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Postgres is a server of the test's own. Its superuser is "owner", with the password "owner's secret".
type Postgres struct {
	Port    int
	dir     string
	bin     string
	options []string
	as      *syscall.Credential
	cmd     *exec.Cmd
	log     bytes.Buffer
	exited  chan struct{}
	made    atomic.Int64
}

// Password is that of every login that tests make.
const Password = "a secret: äöü%/@"

// StartPostgres starts a server. Options are settings of postgres, as name=value.
func StartPostgres(t testing.TB, options ...string) *Postgres {
	t.Helper()
	p := &Postgres{Port: FreePort(t), bin: "/usr/lib/postgresql/15/bin/", options: options}
	if _, err := os.Stat(p.bin + "postgres"); err != nil {
		t.Fatalf("these tests need PostgreSQL 15: %v; 'make needs' installs it", err)
	}
	var err error
	if p.dir, err = os.MkdirTemp("", "ctxls-postgres-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(p.dir) })
	if os.Getuid() == 0 { // which PostgreSQL refuses to be run by
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		p.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(p.dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(p.dir, "secret")
	if err := os.WriteFile(secret, []byte(Password), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := p.command("initdb", "-D", p.data(), "-U", "owner", "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--locale=C", "--no-sync")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	p.Start(t)
	t.Cleanup(p.Kill)
	return p
}

func (p *Postgres) data() string { return filepath.Join(p.dir, "data") }

func (p *Postgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(p.bin+name, args...)
	cmd.Dir = p.dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	return cmd
}

// Start starts the server again, after Kill, and waits until it takes connections.
func (p *Postgres) Start(t testing.TB) {
	t.Helper()
	args := []string{"-D", p.data(), "-p", strconv.Itoa(p.Port), "-k", p.dir, "-c", "listen_addresses=127.0.0.1", "-c", "shared_buffers=64MB"}
	for _, option := range p.options {
		args = append(args, "-c", option)
	}
	p.cmd = p.command("postgres", args...)
	p.log.Reset()
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	p.exited = exited
	go func(cmd *exec.Cmd) { _ = cmd.Wait(); close(exited) }(p.cmd)
	deadline := time.Now().Add(60 * time.Second)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		conn, err := pgx.Connect(ctx, p.URL("owner", "postgres"))
		if err == nil {
			conn.Close(ctx)
			cancel()
			return
		}
		cancel()
		select {
		case <-exited:
			t.Fatalf("postgres ended:\n%s", p.log.String())
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("postgres does not start: %v", err)
		}
	}
}

// Kill kills every process of the server at once, as a machine's death would.
func (p *Postgres) Kill() {
	if p.cmd == nil {
		return
	}
	pid := p.cmd.Process.Pid
	_ = syscall.Kill(pid, syscall.SIGSTOP) // it starts no more
	for _, child := range childrenOf(pid) {
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	<-p.exited
	p.cmd = nil
}

// Processes returns the ids of the server's processes.
func (p *Postgres) Processes() []int {
	return append(childrenOf(p.cmd.Process.Pid), p.cmd.Process.Pid)
}

// childrenOf returns the processes that one has started.
func childrenOf(parent int) (children []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
			children = append(children, pid)
		}
	}
	return children
}

// URL returns the URL of a database for a login.
func (p *Postgres) URL(login, database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(login, Password), Host: fmt.Sprintf("127.0.0.1:%d", p.Port), Path: database, RawQuery: "sslmode=disable"}
	return u.String()
}

// Database makes an empty database and returns its name.
func (p *Postgres) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("team%d", p.made.Add(1))
	p.Exec(t, "postgres", "CREATE DATABASE "+name)
	return name
}

// Login makes a login that is in some roles.
func (p *Postgres) Login(t testing.TB, name string, roles ...string) {
	t.Helper()
	p.Exec(t, "postgres", fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", name, Password))
	for _, role := range roles {
		p.Exec(t, "postgres", fmt.Sprintf("GRANT %s TO %s", role, name))
	}
}

// Exec runs a statement as the owner.
func (p *Postgres) Exec(t testing.TB, database, statement string) {
	t.Helper()
	p.Query(t, database, statement)
}

// Query runs a statement as the owner, and returns its rows as text: columns are separated by "|".
func (p *Postgres) Query(t testing.TB, database, statement string) (rows []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, p.URL("owner", database))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, result := range must(conn.PgConn().Exec(ctx, statement).ReadAll())(t) {
		for _, row := range result.Rows {
			rows = append(rows, string(bytes.Join(row, []byte("|"))))
		}
	}
	return slices.Clip(rows)
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// FreePort returns a port of loopback that nothing listens on.
func FreePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// Try runs statements as the login of a URL.
func Try(url, statements string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.PgConn().Exec(ctx, statements).ReadAll()
	return err
}

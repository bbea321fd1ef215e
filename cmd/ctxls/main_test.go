package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ctxls": main})
}

// The scripts run the command line like a user's shell, each in an empty HOME.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Vars = append(env.Vars, quickRaces)
			env.Setenv("HOME", home)
			env.Setenv("USERPROFILE", home)
			env.Setenv("STATE", filepath.Join(home, ".local", "state", "ctxls"))
			for _, name := range stateVariables { // the same place on every system
				env.Setenv(name, filepath.Join(home, ".local", "state"))
			}
			env.Setenv("APPDATA", filepath.Join(home, ".config"))                                   // the directory of settings on Windows
			transcripts, err := filepath.Abs("../../internal/host/claudecode/testdata/transcripts") // from real sessions
			if err != nil {
				return err
			}
			env.Setenv("TRANSCRIPTS", transcripts)
			env.Setenv("CTXLS_WAIT", "10000") // the tests check outputs, also on a busy machine
			env.Setenv("NOW", time.Now().UTC().Format(time.RFC3339))
			return os.MkdirAll(home, 0o700)
		},
		Condition: func(what string) (bool, error) {
			if what != "root" {
				return false, fmt.Errorf("unknown condition %q", what)
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "expand": expand, "append": appendTo, "sql": sqlInto},
	})
}

// stateVariables name the directory of the state. On Windows it is the second.
var stateVariables = []string{"XDG_STATE_HOME", "LOCALAPPDATA"}

// homeAt is the environment of a user whose home and state are in one directory.
func homeAt(home string) []string {
	env := []string{"HOME=" + home, "USERPROFILE=" + home, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "PATH=" + os.Getenv("PATH"), quickRaces}
	for _, name := range stateVariables {
		env = append(env, name+"="+home)
	}
	return env
}

// status N PROGRAM ARGS… runs a program and checks for exactly that exit status. A first argument "< FILE" of the
// program is its standard input. Its output is that of the last command, as after exec.
func status(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if neg || err != nil || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARGS…")
	}
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// sql DATABASE FILE runs the statements in a file. The database is made where there is none.
func sqlInto(ts *testscript.TestScript, neg bool, args []string) {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(ts.MkAbs(args[0])))
	ts.Check(err)
	defer db.Close()
	_, err = db.ExecContext(context.Background(), expanded(ts, args[1]))
	ts.Check(err)
}

var variable = regexp.MustCompile(`\$(WORK|NOW|SOON)\b`)

// append TO FILE… appends the content of files to another file, expanded as by expand.
func appendTo(ts *testscript.TestScript, neg bool, args []string) {
	text := ts.ReadFile(args[0])
	for _, name := range args[1:] {
		text += expanded(ts, name)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// expand FILE… replaces $WORK, $NOW (the start of the script) and $SOON (a moment from now) in files. Payloads contain
// absolute paths, and transcripts contain times.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(expanded(ts, name)), 0o600))
	}
}

func expanded(ts *testscript.TestScript, name string) string {
	ts.Setenv("SOON", time.Now().Add(10*time.Second).UTC().Format("2006-01-02T15:04:05.000Z"))
	return variable.ReplaceAllStringFunc(ts.ReadFile(name), func(v string) string { return strings.ReplaceAll(ts.Getenv(v[1:]), `\`, `\\`) })
}

package main

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A stand-in for govulncheck, which cannot be made to find something at will, before databases of all kinds.
func TestVulns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	const date = `{"modified":"2026-11-01T00:00:00Z"}`
	database := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/index/db.json" {
				t.Errorf("asked for %s", r.URL)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes a call and says nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()

	const (
		clean   = `exit 0`
		finding = `echo "Vulnerability #1: GO-2026-0001"; exit 3`
		never   = `echo "must not be started" >&2; exit 3`
	)
	for name, test := range map[string]struct {
		db, script string
		loud       string // in the one line that says why it was not run
		fails      string // in the error
	}{
		"nothing is found":             {db: database(200, date), script: clean},
		"something is found":           {db: database(200, date), script: finding, fails: "called on linux:\nVulnerability #1: GO-2026-0001"},
		"found on one system":          {db: database(200, date), script: `[ "$GOOS" = windows ] || exit 0; ` + finding, fails: "called on windows"},
		"the tree does not compile":    {db: database(200, date), script: `echo "loading packages: syntax error" >&2; exit 1`, fails: "loading packages: syntax error"},
		"it is not there":              {db: database(200, date), fails: "no such file"},
		"nobody listens":               {db: "http://" + closed.Addr().String(), script: never, loud: "cannot be reached: "},
		"nobody answers":               {db: "http://" + silent.Addr().String(), script: never, loud: "cannot be reached: "},
		"no such name":                 {db: "http://ctxls.invalid", script: never, loud: "cannot be reached: "},
		"a proxy refuses":              {db: database(403, "no"), script: never, loud: "answers 403 Forbidden"},
		"somebody's page":              {db: database(200, "<html>log in"), script: never, loud: "is no such database"},
		"another document":             {db: database(200, "{}"), script: never, loud: "is no such database"},
		"the database goes away":       {db: database(200, date), script: `echo "govulncheck: fetching vulnerabilities: EOF" >&2; exit 1`, loud: "went away: govulncheck: fetching vulnerabilities: EOF"},
		"it hangs":                     {db: database(200, date), script: `exec sleep 20`, loud: "did not end within 300ms"},
		"and what it started, as well": {db: database(200, date), script: `sleep 20 & wait`, loud: "did not end within 300ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "govulncheck")
			if test.script != "" {
				script := "#!/bin/sh\n[ \"$1 $2 $3\" = \"-db " + test.db + " ./...\" ] || { echo \"run with $*\"; exit 1; }\n" + test.script + "\n"
				if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			c := check{program: program, db: test.db, systems: []string{"linux", "windows"}, answer: time.Minute, ended: time.Minute, out: &out}
			if strings.Contains(test.loud, "cannot be reached") {
				c.answer = 300 * time.Millisecond
			}
			if strings.Contains(test.loud, "300ms") {
				c.ended = 300 * time.Millisecond
			}
			err := c.run(nil)
			switch {
			case (err != nil) != (test.fails != "") || err != nil && !strings.Contains(err.Error(), test.fails):
				t.Errorf("failed with %v, want %q", err, test.fails)
			case test.loud == "" && out.Len() > 0:
				t.Errorf("said %q", out.String())
			case test.loud != "" && (strings.Count(out.String(), "\n") != 1 || !strings.HasPrefix(out.String(), "vulns: GOVULNCHECK WAS NOT RUN") || !strings.Contains(out.String(), test.loud)):
				t.Errorf("said %q, want one line with %q", out.String(), test.loud)
			}
		})
	}
}

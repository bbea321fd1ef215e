// Vulns runs govulncheck for every system that ctxls is released for, and fails where a known vulnerability is in code that is called.
// Its database is on the network, and is not reachable from every machine: then one line says so, and all is well.
//
//	go run ./internal/tools/vulns -program ~/.cache/ctxls-dev/bin/govulncheck-v1.8.0
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// check is one run: how long it waits for the database to answer, and for govulncheck to end.
type check struct {
	program, db   string
	systems       []string
	answer, ended time.Duration
	out           io.Writer
}

func main() {
	c := check{systems: []string{"linux", "darwin", "windows"}, answer: 15 * time.Second, ended: 5 * time.Minute, out: os.Stderr}
	flag.StringVar(&c.program, "program", "govulncheck", "the `path` of govulncheck")
	flag.StringVar(&c.db, "db", "https://vuln.go.dev", "the database's `URL`")
	flag.Parse()
	if err := c.run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "vulns:", err)
		os.Exit(1)
	}
}

// notRun is the reason why the vulnerabilities are unknown. It is no failure of this tree.
type notRun struct{ reason string }

func (e notRun) Error() string { return e.reason }

func (c check) run(packages []string) error {
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	err := c.reach()
	for _, system := range c.systems {
		if err == nil {
			err = c.scan(system, packages)
		}
	}
	if reason, ok := errors.AsType[notRun](err); ok {
		fmt.Fprintln(c.out, "vulns: GOVULNCHECK WAS NOT RUN, nothing is known of vulnerabilities:", reason)
		return nil
	}
	return err
}

// reach asks the database for its date. What a network without access answers is something else, if anything.
func (c check) reach() error {
	ctx, stop := context.WithTimeout(context.Background(), c.answer)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.db, "/")+"/index/db.json", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return notRun{fmt.Sprintf("%s cannot be reached: %v", c.db, err)}
	}
	defer response.Body.Close()
	var index struct{ Modified time.Time }
	if response.StatusCode != http.StatusOK {
		return notRun{fmt.Sprintf("%s answers %s", c.db, response.Status)}
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<16)).Decode(&index); err != nil || index.Modified.IsZero() {
		return notRun{fmt.Sprintf("what answers at %s is no such database: %v", c.db, err)}
	}
	return nil
}

// Exit statuses of govulncheck; anything else is an error of its own, which it calls 1.
const found = 3

// scan looks at the packages as they are on one system.
func (c check) scan(system string, packages []string) error {
	ctx, stop := context.WithTimeout(context.Background(), c.ended)
	defer stop()
	cmd := exec.CommandContext(ctx, c.program, append([]string{"-db", c.db}, packages...)...)
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	cmd.WaitDelay = time.Second // for what it started
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return notRun{fmt.Sprintf("it did not end within %v", c.ended)}
	case ended && exit.ExitCode() == found:
		return fmt.Errorf("known vulnerabilities in code that is called on %s:\n%s", system, said.Bytes())
	case strings.Contains(said.String(), "fetching vulnerabilities") || strings.Contains(said.String(), "vulndb"):
		return notRun{"the database went away: " + strings.Join(strings.Fields(said.String()), " ")}
	}
	return fmt.Errorf("govulncheck for %s: %w\n%s", system, err, said.Bytes())
}

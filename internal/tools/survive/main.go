// Command survive measures what compactions lose, what is needed again, and how much of that the rules of package survival give back, on the
// records of hosts below a directory:
//
//	go run ./internal/tools/survive [--json] DIR
//
// Lost is what the summary does not name. Needed is what an input of a tool holds in the next 20 or 50 responses. Sessions without a
// compaction are cut at 60 % of their responses, as if the window had ended there without a summary.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/registry"
)

func main() {
	args := os.Args[1:]
	asJSON := len(args) > 0 && args[0] == "--json"
	if asJSON {
		args = args[1:]
	}
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: survive [--json] DIR")
		os.Exit(2)
	}
	if err := run(context.Background(), args[0], asJSON, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "survive:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, asJSON bool, out io.Writer) error {
	counter, err := token.Get(session.Encoding)
	if err != nil {
		return err
	}
	adapters := registry.Adapters(func(string) string { return "" })
	t := tables{count: counter.Count}
	err = records(dir, func(r core.Record, h core.Historian) error {
		entries, err := read(ctx, r, h)
		if err != nil {
			fmt.Fprintf(os.Stderr, "survive: %s: %v\n", r.Path, err)
			return nil
		}
		tools = adapters[r.Host].Rules().Tools
		t.session(entries)
		return nil
	})
	if err != nil {
		return err
	}
	if t.Sessions == 0 {
		return fmt.Errorf("%s: no record of a session with two responses", dir)
	}
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(t)
	}
	return t.print(out)
}

// records calls visit for each file below dir that some host recognizes as its record.
func records(dir string, visit func(core.Record, core.Historian) error) error {
	recorders := registry.Recorders(host.Env{Getenv: func(string) string { return "" }, Home: dir})
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		for _, recorder := range recorders {
			h, ok := recorder.(core.Historian)
			if !ok {
				continue
			}
			if r, ok := recorder.Recognize(path); ok {
				return visit(r, h)
			}
		}
		return nil
	})
}

// read returns the entries of a record, oldest first.
func read(ctx context.Context, r core.Record, h core.Historian) ([]session.Entry, error) {
	var entries []session.Entry
	err := h.History(ctx, r, true, func(e session.Entry) bool {
		entries = append(entries, e)
		return true
	})
	slices.Reverse(entries)
	return entries, err
}

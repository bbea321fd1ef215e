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

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/tools/recorded"
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
	t := tables{count: counter.Count}
	found, _, err := recorded.Find(ctx, dir)
	if err != nil {
		return err
	}
	for _, f := range found {
		entries, err := f.History(ctx)
		if err != nil {
			fmt.Fprintf(os.Stderr, "survive: %s: %v\n", f.Path, err)
			continue
		}
		tools = f.Adapter().Rules().Tools
		t.session(entries)
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

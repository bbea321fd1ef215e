// Plan measures on recorded sessions how good the plans of ctxls are: how much of a context they free, how often something
// that they took was needed later, and what it would have cost to follow them.
//
//	go run ./internal/tools/plan DIR
//
// DIR is searched for transcripts of Claude Code (*.jsonl). Lines are read by the parser that the hooks use. A plan is made before each
// request, of what the model had until then. The tables go to stdout as Markdown.
package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ctxls/ctxls/internal/core/token"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/tools/plan DIR")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "plan:", err)
		os.Exit(1)
	}
}

// run prints what is found in the transcripts below dir.
func run(ctx context.Context, dir string, out io.Writer) error {
	counter, err := token.Get(token.Cl100k)
	if err != nil {
		return err
	}
	var all results
	seen := map[string]bool{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		contexts, err := read(ctx, path, counter, seen)
		for _, c := range contexts {
			all.add(c)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(all.shares) == 0 {
		return fmt.Errorf("%s: no transcript with two responses", dir)
	}
	return all.write(out)
}

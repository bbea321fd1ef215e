// Evaluate replays transcripts of Claude Code and measures how well the growth of a context is predicted from what is
// written down, against what the provider reported:
//
//	go run ./internal/tools/evaluate DIR
//
// DIR is searched for *.jsonl. Lines are read by the parser that the hooks use. The tables go to stdout as Markdown.
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
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/tools/evaluate DIR")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "evaluate:", err)
		os.Exit(1)
	}
}

// run prints the tables of all transcripts below dir.
func run(ctx context.Context, dir string, out io.Writer) error {
	sessions, err := load(ctx, dir)
	if err != nil {
		return err
	}
	return write(out, measure(sessions))
}

// load replays all transcripts below dir, in order of their paths. None to measure is an error.
func load(ctx context.Context, dir string) (sessions []recording, err error) {
	counter, err := token.Get(token.Cl100k)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		s, err := replay(ctx, path, counter)
		if len(s) > 1 {
			sessions = append(sessions, s)
		}
		return err
	})
	if err == nil && len(sessions) == 0 {
		err = fmt.Errorf("%s: no transcript with two responses of a main chain", dir)
	}
	return sessions, err
}

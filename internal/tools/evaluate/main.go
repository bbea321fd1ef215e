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
	"strings"

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
	found, err := load(ctx, dir)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "Transcripts: %d. Left out: %d of sub-agents, %d copies.\n\n", len(found.sessions), found.agents, found.copies); err != nil {
		return err
	}
	if err := write(out, measure(found.sessions)); err != nil {
		return err
	}
	return found.lives.write(out)
}

// transcripts is what a directory holds.
type transcripts struct {
	sessions       []recording
	lives          lives
	agents, copies int // that were left out
}

// load replays all transcripts below dir, in order of their paths. Those of sub-agents and copies of others, whose responses were
// seen before, are left out. None to measure is an error.
func load(ctx context.Context, dir string) (found transcripts, err error) {
	seen := map[string]bool{}
	counter, err := token.Get(token.Cl100k)
	if err != nil {
		return found, err
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		if strings.HasPrefix(filepath.Base(path), "agent-") {
			found.agents++
			return nil
		}
		s, entries, err := replay(ctx, path, counter)
		switch {
		case err != nil || len(s) < 2:
		case s.isCopy(seen):
			found.copies++
		default:
			found.sessions = append(found.sessions, s)
			found.lives.follow(filepath.Base(path), entries)
		}
		return err
	})
	if err == nil && len(found.sessions) == 0 {
		err = fmt.Errorf("%s: no transcript with two responses of a main chain", dir)
	}
	return found, err
}

// isCopy reports whether most responses of a recording were in one before, and takes down all of them.
func (s recording) isCopy(seen map[string]bool) bool {
	known := 0
	for _, r := range s {
		if id := r.report.MessageID; id != "" {
			if seen[id] {
				known++
			}
			seen[id] = true
		}
	}
	return 2*known > len(s)
}

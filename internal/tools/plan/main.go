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

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/tools/recorded"
)

func main() { recorded.Main("plan", run) }

// run prints what is found in the transcripts below dir.
func run(ctx context.Context, dir string, out io.Writer) error {
	counter, err := token.Get(token.Cl100k)
	if err != nil {
		return err
	}
	found, _, err := recorded.Find(ctx, dir)
	if err != nil {
		return err
	}
	var all results
	seen := map[string]bool{}
	for _, f := range found {
		if f.Host != session.HostClaudeCode {
			continue
		}
		entries, err := f.Entries(ctx)
		if err != nil {
			return err
		}
		for _, c := range contexts(entries, f.Adapter().Rules().Tools, counter, seen) {
			all.add(c)
		}
	}
	if len(all.shares) == 0 {
		return fmt.Errorf("%s: no transcript with two responses", dir)
	}
	return all.write(out)
}

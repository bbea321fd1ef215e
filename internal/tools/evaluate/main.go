// Evaluate replays recorded sessions of all hosts and measures how well the growth of a context is predicted from what is written down,
// against what the provider reported:
//
//	go run ./internal/tools/evaluate DIR
//
// DIR is searched for records that a host recognizes, and for OpenCode's databases. The readers are those that the hooks use. The tables go
// to stdout as Markdown.
package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/tools/recorded"
)

func main() { recorded.Main("evaluate", run) }

// run prints the tables of all records below dir.
func run(ctx context.Context, dir string, out io.Writer) error {
	all, err := load(ctx, dir)
	if err != nil {
		return err
	}
	for _, host := range registry.All {
		if h := all.hosts[host.Name]; h != nil {
			fmt.Fprintf(out, "## %s\n\n", host.Title)
			if err := h.write(out); err != nil {
				return err
			}
		}
	}
	_, err = fmt.Fprintf(out, "Left out: %d records of sub-agents, %d copies.\n", all.Agents, all.Copies)
	return err
}

// records is what a directory holds.
type records struct {
	hosts map[session.Host]*hostRecords
	recorded.Skipped
}

// hostRecords is the sessions of one host.
type hostRecords struct {
	name     session.Host
	rules    session.Rules
	sessions []recording
	lives    lives
}

// load replays all records below dir. Copies, whose responses were mostly seen before, are left out. None to measure is an error.
func load(ctx context.Context, dir string) (records, error) {
	all := records{hosts: map[session.Host]*hostRecords{}}
	counter, err := token.Get(session.Encoding)
	if err != nil {
		return all, err
	}
	found, skipped, err := recorded.Find(ctx, dir)
	if err != nil {
		return all, err
	}
	all.Skipped = skipped
	seen := map[string]bool{}
	for _, f := range found {
		entries, err := f.Entries(ctx)
		if err != nil {
			return all, err
		}
		h := all.hosts[f.Host]
		if h == nil {
			h = &hostRecords{name: f.Host, rules: f.Adapter().Rules()}
		}
		s, err := replay(f, h.rules, entries, counter)
		switch {
		case err != nil:
			return all, err
		case len(s) < 2:
		case s.isCopy(seen):
			all.Copies++
		default:
			all.hosts[f.Host] = h
			h.sessions = append(h.sessions, s)
			h.lives.follow(f, h.rules, entries)
		}
	}
	if len(all.hosts) == 0 {
		err = fmt.Errorf("%s: no record with two responses of a main conversation", dir)
	}
	return all, err
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

// write prints what was found for a host.
func (h *hostRecords) write(out io.Writer) error {
	results := measure(h.rules.Provider, h.sessions)
	pairs := 0
	for _, r := range results {
		if r.model == allModels || len(results) == 1 {
			pairs = r.pairs
		}
	}
	fmt.Fprintf(out, "Sessions: %d. Pairs of consecutive responses: %d.\n\n", len(h.sessions), pairs)
	if i := slices.IndexFunc(results, func(r result) bool { return r.model == newerModels }); i >= 0 {
		writeSteps(out, results[len(results)-1], results[i])
	}
	writeMethods(out, results[len(results)-1])
	writeModels(out, results)
	return h.lives.write(out)
}

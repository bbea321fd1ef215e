package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/ui"
)

// patience is how long a command that a person waits for waits for other processes.
const patience = 5 * time.Second

var sessionsCommand = command{
	name: "sessions", synopsis: "[--all] [--here] [--json]", short: "list the sessions of this machine and how full they are",
	examples: `ctxls sessions
ctxls sessions --here --all
ctxls sessions --json | jq -r '.[] | [.host, .usage.display.percent] | @tsv'`,
	setup: func(fs *pflag.FlagSet) action {
		all := fs.BoolP("all", "a", false, "sessions that have ended too")
		here := fs.Bool("here", false, "only sessions in the current directory or below it")
		asJSON := fs.Bool("json", false, "print JSON")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 0 {
				return usageError{"sessions takes no arguments"}
			}
			s, err := a.service(ctx, patience)
			if err != nil {
				return err
			}
			filter := core.SessionFilter{IncludeEnded: *all}
			if *here {
				filter.Folders = []string{a.cwd}
				if real, err := filepath.EvalSymlinks(a.cwd); err == nil { // hosts tell the one or the other name
					filter.Folders = append(filter.Folders, real)
				}
			}
			views, err := s.Sessions(ctx, filter)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(a.stdout, views)
			}
			if len(views) == 0 {
				fmt.Fprintln(a.stderr, "ctxls: no sessions yet")
				fmt.Fprintln(a.stderr, "ctxls: hint: a session appears when its agent runs ctxls as a hook; see 'ctxls help hook'")
				return nil
			}
			return ui.Sessions(a.stdout, views, time.Now())
		}
	},
}

var reportCommand = command{
	name: "report", synopsis: "[--json]", short: "print the figures over the last tasks of all sessions",
	examples: "ctxls report\nctxls report --json",
	setup: func(fs *pflag.FlagSet) action {
		asJSON := fs.Bool("json", false, "print JSON")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 0 {
				return usageError{"report takes no arguments"}
			}
			s, err := a.service(ctx, patience)
			if err != nil {
				return err
			}
			report, err := s.Report(ctx)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(a.stdout, report)
			}
			return ui.Report(a.stdout, report)
		}
	},
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/alert"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/ui"
)

// noSessions is the error if there is nothing to show.
var noSessions = hintError{errors.New("no sessions yet"), "a session appears with the first response of an agent; 'ctxls setup' finds the agents here, 'ctxls doctor' checks them"}

var sessionsCommand = command{
	name: "sessions", synopsis: "[--all] [--here] [--host HOST] [--project NAME] [--since AGE] [--sort ORDER] [--limit N] [--watch | --json] [flags]", short: "list the sessions of this machine and how full they are",
	long: `
Lists the newest 20 sessions that have not ended, from the hooks of the hosts and from the records that hosts keep of their
sessions. --all lists every session. SOURCE says where the figures come from: "hooks", or "record" where no hook has told of
the session.

--watch shows them on a live screen that follows every change. Keys: ↑↓ choose a session, enter opens it (history, what fills
its window, files in use), s sorts, / filters, ? lists the keys, q quits.

"~" marks an estimate, "?" an unknown figure.`,
	examples: `ctxls sessions
ctxls sessions --watch
ctxls sessions --here --all
ctxls sessions --host codex --since 7d
ctxls sessions --json | jq -r '.[] | [.host, .usage.display.percent] | @tsv'`,
	reads: true,
	setup: func(fs *pflag.FlagSet) action {
		all := fs.BoolP("all", "a", false, "every session, those that have ended too")
		host := hostVar(fs, "only sessions of a `host`")
		project := fs.String("project", "", "only sessions in a directory of this `name`")
		since := fs.String("since", "", "only sessions that changed within an `age` such as 7d or 12h")
		order := fs.String("sort", "active", "`order`: active (last active first), full (fullest first), left (nearest to a compaction first) or project")
		limit := fs.IntP("limit", "n", 0, "the most sessions to list (default 20, with --all no limit)")
		here := fs.Bool("here", false, "only sessions in the current directory or below it")
		watch := fs.BoolP("watch", "w", false, "show a live screen")
		asJSON := fs.Bool("json", false, "print JSON")
		var styled styleFlags
		styled.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 0 {
				err := usageError{"sessions takes no arguments"}
				if host, wrong := hostNamed("", args[0]); wrong == nil && host != "" {
					return hintError{err, "did you mean --host " + args[0] + "?"}
				}
				return err
			}
			if *watch && *asJSON {
				return usageError{"--watch and --json exclude each other; programs get changes from 'ctxls serve'"}
			}
			filter := core.SessionFilter{Host: *host, IncludeEnded: *all, Project: *project, Limit: *limit}
			if *since != "" {
				age, err := parseAge(*since)
				if err != nil {
					return usageError{"--since: " + err.Error()}
				}
				filter.Since = time.Now().Add(-age)
			}
			switch {
			case *limit < 0:
				return usageError{fmt.Sprintf("--limit: want a number above 0, got %d", *limit)}
			case *limit == 0 && !*all && !*watch:
				filter.Limit = defaultLimit
			}
			by, err := ui.ParseSorting(*order)
			if err != nil {
				return usageError{"--sort: " + err.Error()}
			}
			style, err := styled.style(a)
			if err != nil {
				return err
			}
			s, err := a.service(ctx)
			if err != nil {
				return err
			}
			a.discover(s, !*asJSON)
			if *here {
				filter.Folders = []string{a.cwd}
			}
			if *watch {
				return a.watchSessions(ctx, s, filter, by, style)
			}
			views, err := sortedSessions(ctx, s, filter, by)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(a.stdout, views)
			}
			if len(views) == 0 {
				fail(a.stderr, a.noneListed(ctx, s, filter))
				return nil
			}
			if err := ui.Sessions(a.stdout, views, time.Now(), style); err != nil {
				return err
			}
			if *limit == 0 && len(views) == filter.Limit {
				fmt.Fprintf(a.stderr, "ctxls: the newest %d sessions; 'ctxls sessions --all' lists all\n", defaultLimit)
			} else if n, err := endedLately(ctx, s, filter); err == nil && n > 0 {
				fmt.Fprintf(a.stderr, "ctxls: without %s that ended today; 'ctxls sessions --all' lists all\n", ui.Count(n, "session"))
			}
			return nil
		}
	},
}

// endedLately counts the sessions that a list leaves out since they have ended, of the last day: one of 'claude -p' has ended already
// when its user looks for it.
func endedLately(ctx context.Context, s *core.Service, filter core.SessionFilter) (n int, err error) {
	if filter.IncludeEnded {
		return 0, nil
	}
	filter.IncludeEnded, filter.Limit = true, 0
	if day := time.Now().Add(-24 * time.Hour); filter.Since.Before(day) {
		filter.Since = day
	}
	filter.Folders = s.Spellings(filter.Folders)
	stored, err := s.Store.Sessions(ctx, filter) // of records, none is known to have ended
	for _, snap := range stored {
		if !snap.Session.EndedAt.IsZero() {
			n++
		}
	}
	return n, err
}

// noneListed says why a list is empty: there are no sessions, or none that the filter lets through.
func (a *app) noneListed(ctx context.Context, s *core.Service, filter core.SessionFilter) error {
	all, err := s.Sessions(ctx, core.SessionFilter{IncludeEnded: true, Limit: 1})
	if err != nil || len(all) == 0 {
		return noSessions
	}
	hint := "'ctxls sessions --all' lists every session"
	if strings.ContainsAny(filter.Project, `./\`) {
		hint = "--project takes the name of a directory; --here takes the current directory"
	}
	if !filter.IncludeEnded && filter.Host == "" && filter.Project == "" && filter.Since.IsZero() && filter.Folders == nil {
		return hintError{errors.New("all sessions have ended"), hint}
	}
	return hintError{errors.New("no session matches"), hint}
}

// defaultLimit is how many sessions a list shows where nothing else is asked for.
const defaultLimit = 20

// sortedSessions returns the first sessions in an order.
func sortedSessions(ctx context.Context, s *core.Service, filter core.SessionFilter, by ui.Sorting) ([]core.SessionView, error) {
	limit := filter.Limit
	if by != 0 {
		filter.Limit = 0 // the fullest may not be among the newest
	}
	views, err := s.Sessions(ctx, filter)
	if by != 0 {
		ui.Sort(views, by)
	}
	if limit > 0 && len(views) > limit {
		views = views[:limit]
	}
	return views, err
}

// watchSessions shows sessions on a live screen. It needs a terminal.
func (a *app) watchSessions(ctx context.Context, s *core.Service, filter core.SessionFilter, by ui.Sorting, style ui.Style) error {
	if ui.Terminal(a.stdout) == nil {
		return hintError{errors.New("--watch: standard output is not a terminal"), "'ctxls sessions' prints a table; 'ctxls serve' sends changes"}
	}
	if a.getenv("TERM") == "dumb" {
		return hintError{errors.New("--watch: this terminal cannot move the cursor (TERM is dumb)"), "'ctxls sessions' prints a table"}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go alert.Run(ctx, a.alerts(s))
	return ui.Live(ctx, ui.LiveOptions{Source: s, Filter: filter, In: a.stdin, Out: a.stdout, Environ: a.environ, Color: style.Color, Sort: by})
}

// printJSON prints a value for programs. It escapes characters that could affect a terminal, which JSON allows in any string.
func printJSON(w io.Writer, v any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	var escaped strings.Builder
	for _, r := range out.String() {
		switch {
		case r == '\n' || text.Visible(r):
			escaped.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&escaped, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&escaped, `\u%04x`, r)
		}
	}
	_, err := io.WriteString(w, escaped.String())
	return err
}

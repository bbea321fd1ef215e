package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/completion"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/ui"
)

var forgetCommand = command{
	name: "forget", synopsis: "SESSION… | --before AGE | --imported [--host HOST] [--yes] [--json]", short: "remove sessions from the state",
	long: `
Removes everything that ctxls keeps of the sessions. Without --yes it only lists what would go. A session that ctxls knows from
its host's record is not shown any more; the record itself stays. The figures of its turns stay in the report without its name.

SESSION is an id, or the beginning of one. --before takes all sessions that did not change within an age such as 30d.
--imported removes what 'ctxls import' brought.`,
	examples: "ctxls forget c203db13\nctxls forget --before 30d --host codex --yes\nctxls forget --imported --yes",
	offers:   func(ctx context.Context, a *app, o *completion.Offer, given []string) { a.offerSessions(ctx, o, given) },
	setup: func(fs *pflag.FlagSet) action {
		host := hostVar(fs, "only sessions of a `host`")
		before := fs.String("before", "", "all sessions that did not change within an `age` such as 30d")
		imported := fs.Bool("imported", false, "what 'ctxls import' brought")
		yes := fs.BoolP("yes", "y", false, "do it; without, only list")
		asJSON := fs.Bool("json", false, "print JSON: the sessions, and whether they were removed")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) == 0 && *before == "" && !*imported {
				return usageError{"forget takes sessions, --before or --imported"}
			}
			if len(args) > 0 && *before != "" {
				return usageError{"forget takes sessions or --before, not both"}
			}
			s, err := a.service(ctx)
			if err != nil {
				return err
			}
			seen := a.discover(s, true)
			chosen, err := a.chooseForgotten(ctx, s, *host, args, *before)
			if err != nil {
				return err
			}
			if *yes {
				for _, v := range chosen {
					if _, err := s.Delete(ctx, session.Key{Host: v.Host, SessionID: v.SessionID}); err != nil {
						return err
					}
				}
				if *imported {
					if err := seen.ForgetImported(ctx, s.Config("").Metrics.WindowTasks); err != nil {
						return err
					}
				}
			}
			if *asJSON {
				return printJSON(a.stdout, forgotten{*yes, *imported, append([]core.SessionView{}, chosen...)})
			}
			return a.sayForgotten(chosen, *imported, *yes)
		}
	},
}

// forgotten is what forget prints as JSON.
type forgotten struct {
	Removed  bool               `json:"removed"`  // false: these would be removed with --yes
	Imported bool               `json:"imported"` // with what was imported
	Sessions []core.SessionView `json:"sessions"`
}

// sayForgotten says what was removed, or lists what would be.
func (a *app) sayForgotten(chosen []core.SessionView, imported, removed bool) error {
	what := ui.Count(len(chosen), "session")
	switch {
	case imported && len(chosen) == 0:
		what = "all imported tasks"
	case imported:
		what += " and all imported tasks"
	}
	if removed {
		a.say("%s removed", what)
		return nil
	}
	them := "them"
	if len(chosen) == 1 && !imported {
		them = "it"
	}
	if len(chosen) > 0 {
		if err := ui.Sessions(a.stdout, chosen, time.Now(), ui.Style{Width: 120}); err != nil {
			return err
		}
	} else if !imported {
		fmt.Fprintln(a.stderr, "ctxls: nothing to remove")
		return nil
	}
	fmt.Fprintf(a.stderr, "ctxls: nothing was removed: %s would go; add --yes to remove %s\n", what, them)
	return nil
}

// chooseForgotten returns the sessions that the arguments of forget name.
func (a *app) chooseForgotten(ctx context.Context, s *core.Service, host session.Host, ids []string, before string) ([]core.SessionView, error) {
	var chosen []core.SessionView
	for _, id := range ids {
		key, err := a.chooseSession(ctx, s, host, []string{id})
		if err != nil {
			return nil, err
		}
		view, err := s.Session(ctx, key)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(chosen, func(v core.SessionView) bool { return v.Host == view.Host && v.SessionID == view.SessionID }) {
			chosen = append(chosen, view)
		}
	}
	if before == "" {
		return chosen, nil
	}
	age, err := parseAge(before)
	if err != nil {
		return nil, usageError{"--before: " + err.Error()}
	}
	all, err := s.Sessions(ctx, core.SessionFilter{Host: host, IncludeEnded: true})
	if err != nil {
		return nil, err
	}
	for _, v := range all {
		if time.Since(v.UpdatedAt) > age && v.Source == core.SourceHooks {
			chosen = append(chosen, v)
		}
	}
	return chosen, nil
}

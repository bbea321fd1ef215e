package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/ui"
)

var forgetCommand = command{
	name: "forget", synopsis: "SESSION… | --before AGE | --imported [--host HOST] [--yes]", short: "remove sessions from the state",
	long: `
Removes everything that ctxls keeps of the sessions. Without --yes it only lists what would go. A session that ctxls knows from
its host's record is not shown any more; the record itself stays. The figures of its turns stay in the report without its name.

SESSION is an id, or the beginning of one. --before takes all sessions that did not change within an age such as 30d.
--imported removes what 'ctxls import' brought.`,
	examples: "ctxls forget c203db13\nctxls forget --before 30d --host codex --yes\nctxls forget --imported --yes",
	setup: func(fs *pflag.FlagSet) action {
		host := fs.String("host", "", "only sessions of a `host`")
		before := fs.String("before", "", "all sessions that did not change within an `age` such as 30d")
		imported := fs.Bool("imported", false, "what 'ctxls import' brought")
		yes := fs.BoolP("yes", "y", false, "do it; without, only list")
		return func(ctx context.Context, a *app, args []string) error {
			if *host != "" {
				if err := registry.Check(session.Host(*host)); err != nil {
					return usageError{err.Error()}
				}
			}
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
			chosen, err := a.chooseForgotten(ctx, s, session.Host(*host), args, *before)
			if err != nil {
				return err
			}
			if !*yes {
				if len(chosen) > 0 {
					if err := ui.Sessions(a.stdout, chosen, time.Now(), ui.Style{Width: 120}); err != nil {
						return err
					}
				}
				fmt.Fprintf(a.stderr, "ctxls: nothing was removed: %d sessions would go; add --yes to remove them\n", len(chosen))
				return nil
			}
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
			fmt.Fprintf(a.stdout, "%d sessions removed\n", len(chosen))
			return nil
		}
	},
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
		chosen = append(chosen, view)
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

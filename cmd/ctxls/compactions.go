package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/survival"
	"github.com/ctxls/ctxls/internal/ui"
)

// maxLedger is how many sessions are read for a ledger of all.
const maxLedger = 50

var compactionsCommand = command{
	name: "compactions", synopsis: "[SESSION] [--host HOST] [--json]", short: "show what compactions lost, what came back, and what they cost",
	long: `
Reads the host's record and shows every compaction of a session, or of the newest 50 sessions that were compacted: who started it and when, the window
before and after, how many of the files, commands and short prompts before it the summary named, what ctxls gives back of the rest, how much of that the
agent used in its next 20 responses, and how many files it read again.

What is given back is worked out anew from the record by the settings in force now. docs/survival.md explains the rules.`,
	examples: "ctxls compactions\nctxls compactions c203db13\nctxls compactions --json | jq '.totals'",
	reads:    true,
	setup: func(fs *pflag.FlagSet) action {
		host := fs.String("host", "", "only sessions of a `host`")
		asJSON := fs.Bool("json", false, "print JSON")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 1 {
				return usageError{"compactions takes one session"}
			}
			if _, err := hostNamed("--host", *host); err != nil {
				return err
			}
			s, err := a.service(ctx)
			if err != nil {
				return err
			}
			a.discover(s, true)
			list, err := a.ledger(ctx, s, session.Host(*host), args)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(a.stdout, struct {
					Compactions []survival.Entry `json:"compactions"`
					Totals      survival.Totals  `json:"totals"`
				}{append([]survival.Entry{}, list...), survival.Sum(list)})
			}
			return ui.Compactions(a.stdout, list, time.Now())
		}
	},
}

// ledger returns the compactions of the session that args name, or of the newest sessions.
func (a *app) ledger(ctx context.Context, s *core.Service, host session.Host, args []string) ([]survival.Entry, error) {
	if len(args) == 1 {
		key, err := a.chooseSession(ctx, s, host, args)
		if err != nil {
			return nil, err
		}
		return s.Compactions(ctx, key)
	}
	all, err := s.Sessions(ctx, core.SessionFilter{Host: host, IncludeEnded: true})
	if err != nil {
		return nil, err
	}
	var list []survival.Entry
	read := 0
	for _, v := range all {
		if v.Compactions == 0 {
			continue
		}
		if read++; read > maxLedger {
			break
		}
		found, err := s.Compactions(ctx, session.Key{Host: v.Host, SessionID: v.SessionID})
		var wrong *coded.Error
		switch {
		case errors.As(err, &wrong) && wrong.Code == coded.Invalid: // its host keeps no record, or it is gone
		case err != nil:
			return nil, err
		default:
			list = append(found, list...)
		}
	}
	return list, nil
}

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/survival"
	"github.com/ctxls/ctxls/internal/ui"
)

var compactionsCommand = command{
	name: "compactions", synopsis: "[SESSION] [--host HOST] [--json]", short: "show what compactions lost, what came back, and what they cost",
	long: `
Reads the host's record and shows every compaction of a session, or of the newest 50 sessions that were compacted: who started it and when, the window
before and after, how many of the files, commands and short prompts before it the summary named, what ctxls gives back of the rest, how much of that the
agent used in its next 20 responses, and how many files it read again.

ctxls computes what it gives back from the record each time, with the current settings. Without SESSION and --host, the sums over the last 50 compactions are
kept beside the state: ctxls stops giving back a class if less than 3 % of it was used. docs/survival.md explains the rules.`,
	examples: "ctxls compactions\nctxls compactions c203db13\nctxls compactions --json | jq '.totals'",
	reads:    true,
	setup: func(fs *pflag.FlagSet) action {
		host := hostVar(fs, "only sessions of a `host`")
		asJSON := fs.Bool("json", false, "print JSON")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 1 {
				return usageError{"compactions takes one session"}
			}
			s, err := a.service(ctx)
			if err != nil {
				return err
			}
			a.discover(s, true)
			list, err := a.ledger(ctx, s, *host, args)
			if err != nil {
				return err
			}
			if len(args) == 0 && *host == "" && len(list) > 0 {
				if err := a.judge(list); err != nil {
					a.log.Warn("figures of compactions not kept", "error", err)
				}
			}
			if *asJSON {
				return printJSON(a.stdout, survival.LedgerOf(list))
			}
			return ui.Compactions(a.stdout, list, time.Now())
		}
	},
}

// tallyPath is the file with the sums over the last compactions, beside the state. It names no session.
func (a *app) tallyPath() string {
	return filepath.Join(filepath.Dir(a.storePath(a.settings(""))), "compactions.json")
}

// judge keeps the sums over the last compactions, by which hooks leave out what agents do not use.
func (a *app) judge(list []survival.Entry) error {
	data, err := json.Marshal(survival.Sum(list[max(0, len(list)-survival.JudgedCompactions):]))
	if err != nil {
		return err
	}
	return writeWhole(a.tallyPath(), data)
}

// tally returns what judge kept, nothing where it cannot be read.
func (a *app) tally() (t survival.Totals) {
	data, err := os.ReadFile(a.tallyPath())
	if err != nil || json.Unmarshal(data, &t) != nil {
		return survival.Totals{}
	}
	return t
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
	return s.AllCompactions(ctx, host)
}

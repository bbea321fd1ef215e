package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/ui"
)

var recallCommand = command{
	name: "recall", synopsis: "QUERY… [--session ID] [--host HOST] [--limit N] [--max-tokens N] [--json]", short: "search what was said before the last compaction",
	long: `
Searches the host's record of a session for what a compaction took out of the window: prompts, answers, calls of tools and their results. Any word
of the query may match; the best match comes first. Each line is cut at 2,000 characters and shown with its price in tokens.

The default is the session of the current directory that was active last. Results of tools that only read a file are not searched: the file is
still there. The search keeps an index beside the state, in the directory recall: it can be deleted at any time, and goes with its session.`,
	examples: "ctxls recall dependency license\nctxls recall --session c203db13 --max-tokens 500 'never edit'\nctxls recall --json migration | jq '.lines[0].text'",
	reads:    true,
	setup: func(fs *pflag.FlagSet) action {
		id := fs.String("session", "", "the session's `id`, or the beginning of it")
		host := hostVar(fs, "the session's `host`, if two hosts have a session of that id")
		limit := fs.Int("limit", core.DefaultRecallLines, "the most lines")
		tokens := fs.Int("max-tokens", core.DefaultRecallTokens, "the most tokens of all lines together")
		asJSON := fs.Bool("json", false, "print JSON, as session/recall does")
		var styled styleFlags
		styled.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if strings.TrimSpace(strings.Join(args, "")) == "" {
				return usageError{"recall takes words to search for"}
			}
			if *limit < 1 || *limit > core.MaxRecallLines || *tokens < 1 || *tokens > core.MaxRecallTokens {
				return usageError{"recall takes a --limit from 1 to 100 and --max-tokens from 1 to 50000"}
			}
			style, err := styled.style(a)
			if err != nil {
				return err
			}
			s, err := a.service(ctx)
			if err != nil {
				return err
			}
			a.discover(s, true)
			var chosen []string
			if *id != "" {
				chosen = []string{*id}
			}
			key, err := a.chooseSession(ctx, s, *host, chosen)
			if err != nil {
				return err
			}
			out, err := s.Recall(ctx, key, core.RecallQuery{Query: strings.Join(args, " "), Limit: *limit, MaxTokens: *tokens})
			if err != nil {
				return a.unsearchable(err, key)
			}
			if *asJSON {
				return printJSON(a.stdout, out)
			}
			return ui.Recall(a.stdout, out, style)
		}
	},
}

// unsearchable returns the error of a query about a session's record, in words for a person where there is no record to read.
func (a *app) unsearchable(err error, key session.Key) error {
	if e, ok := errors.AsType[*coded.Error](err); !ok || e.Field != "sessionId" {
		return err
	}
	why := fmt.Errorf("the record of session %s of %s is gone, or the host has not named it yet", text.Sanitize(key.SessionID, 100), key.Host)
	if a.historian(key.Host) == nil {
		why = fmt.Errorf("the records of %s cannot be searched", key.Host)
	}
	return hintError{why, "--host or --session names another session"}
}

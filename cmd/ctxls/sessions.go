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

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/ui"
)

// noSessions is the error if there is nothing to show.
var noSessions = hintError{errors.New("no sessions yet"), "a session appears when its agent runs ctxls as a hook; see 'ctxls help install'"}

var sessionsCommand = command{
	name: "sessions", synopsis: "[--all] [--here] [--watch | --json] [--color WHEN] [--width N]", short: "list the sessions of this machine and how full they are",
	long: `
--watch shows them on a live screen that follows every change. Keys: ↑↓ choose a session, enter opens it (history, what fills
its window, files in use), s sorts, / filters, ? lists the keys, q quits.

"~" marks an estimate, "?" an unknown figure.`,
	examples: `ctxls sessions
ctxls sessions --watch
ctxls sessions --here --all
ctxls sessions --json | jq -r '.[] | [.host, .usage.display.percent] | @tsv'`,
	reads: true,
	setup: func(fs *pflag.FlagSet) action {
		all := fs.BoolP("all", "a", false, "also list sessions that have ended")
		here := fs.Bool("here", false, "only sessions in the current directory or below it")
		watch := fs.BoolP("watch", "w", false, "show a live screen")
		asJSON := fs.Bool("json", false, "print JSON")
		var styled styleFlags
		styled.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 0 {
				return usageError{"sessions takes no arguments"}
			}
			if *watch && *asJSON {
				return usageError{"--watch and --json exclude each other; programs get changes from 'ctxls serve'"}
			}
			style, err := styled.style(a)
			if err != nil {
				return err
			}
			s, err := a.service(ctx)
			if err != nil {
				return err
			}
			filter := core.SessionFilter{IncludeEnded: *all}
			if *here {
				filter.Folders = []string{a.cwd}
			}
			if *watch {
				return a.watchSessions(ctx, s, filter, style)
			}
			views, err := s.Sessions(ctx, filter)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(a.stdout, views)
			}
			if len(views) == 0 {
				fail(a.stderr, noSessions)
				return nil
			}
			return ui.Sessions(a.stdout, views, time.Now(), style)
		}
	},
}

// watchSessions shows sessions on a live screen. It needs a terminal.
func (a *app) watchSessions(ctx context.Context, s *core.Service, filter core.SessionFilter, style ui.Style) error {
	if _, err := a.screen(); err != nil {
		return hintError{fmt.Errorf("--watch: %w", err), "'ctxls sessions' prints a table; programs get changes from 'ctxls serve'"}
	}
	return ui.Live(ctx, ui.LiveOptions{Source: s, Filter: filter, In: a.stdin, Out: a.stdout, Environ: a.environ, Color: style.Color})
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

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/completion"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/ui"
)

var breakdownCommand = command{
	name: "breakdown", synopsis: "[SESSION|FILE] [--host HOST] [--json] [--color WHEN] [--width N]", short: "show what fills a session's window, and what it grew by last",
	long: `
SESSION is an id, or the beginning of one. The default is the session of the current directory that was active last, or else
the last active session of this machine. FILE is a host's record of a session, wherever it lies.

ctxls reads the host's record of the conversation since its last compaction, estimates each part, and scales the parts to the
usage that the provider reported. "system prompt, tools" is what the record does not explain. Where the host records its requests,
as Claude Code does, they stand there one by one, with the tools that were never called. If the host keeps no record, the figures
are "?", with the reason. The last line says how much of it could go; 'ctxls plan' lists that.`,
	examples: "ctxls breakdown\nctxls breakdown c203db13\nctxls breakdown --json | jq '.breakdown.parts'",
	reads:    true,
	offers: func(ctx context.Context, a *app, o *completion.Offer, given []string) {
		if len(given) == 0 {
			a.offerSessions(ctx, o, nil)
			o.Paths = "files"
		}
	},
	setup: func(fs *pflag.FlagSet) action {
		host := hostVar(fs, "the session's `host`, if two hosts have a session of that id")
		asJSON := fs.Bool("json", false, "print JSON, as session/get does")
		var styled styleFlags
		styled.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 1 {
				return usageError{"breakdown takes one session"}
			}
			style, err := styled.style(a)
			if err != nil {
				return err
			}
			s, err := a.service(ctx)
			if err != nil {
				return err
			}
			seen := a.discover(s, false)
			if len(args) == 1 {
				if key, ok := seen.Name(args[0]); ok {
					args[0], *host = key.SessionID, key.Host
				} else if _, err := os.Stat(args[0]); err == nil {
					return fmt.Errorf("%s: not a record of a session of %s", args[0], strings.Join(registry.Names(registry.Recording()), ", "))
				}
			}
			key, err := a.chooseSession(ctx, s, *host, args)
			if err != nil {
				return err
			}
			p := a.startProgress()
			view, couldGo, err := s.SessionBreakdownAndPlan(ctx, key, p.at)
			p.stop()
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(a.stdout, view)
			}
			if err := ui.Breakdown(a.stdout, view, time.Now(), style); err != nil {
				return err
			}
			return ui.PlanLine(a.stdout, couldGo, args, style)
		}
	},
}

// chooseSession finds a session by the beginning of its id. Without an id, it returns the last active session of the current
// directory, or else of this machine.
func (a *app) chooseSession(ctx context.Context, s *core.Service, host session.Host, args []string) (session.Key, error) {
	if len(args) > 0 && strings.TrimSpace(args[0]) == "" { // a variable of a script that is not set; every id begins with it
		return session.Key{}, usageError{"the id of a session is empty"}
	}
	all, err := s.Sessions(ctx, core.SessionFilter{Host: host, IncludeEnded: true})
	if err != nil {
		return session.Key{}, err
	}
	keyOf := func(v core.SessionView) session.Key { return session.Key{Host: v.Host, SessionID: v.SessionID} }
	if len(args) == 0 {
		here := s.Spellings([]string{a.cwd})
		for _, v := range all {
			if pathname.InFolders(here, v.CWD) {
				return keyOf(v), nil
			}
		}
		if len(all) == 0 && host != "" {
			return session.Key{}, hintError{fmt.Errorf("no sessions of %s yet", host), "'ctxls sessions --all' lists every session"}
		}
		if len(all) == 0 {
			return session.Key{}, noSessions
		}
		return keyOf(all[0]), nil
	}
	var found []session.Key
	for _, v := range all {
		if v.SessionID == args[0] && (host != "" || !hasOther(all, v)) {
			return keyOf(v), nil
		}
		if strings.HasPrefix(v.SessionID, args[0]) {
			found = append(found, keyOf(v))
		}
	}
	switch len(found) {
	case 0:
		err := fmt.Errorf("no session %q", text.Sanitize(args[0], 60))
		if _, missing := os.Stat(args[0]); errors.Is(missing, fs.ErrNotExist) && (strings.ContainsRune(args[0], '/') || strings.HasSuffix(args[0], ".jsonl")) {
			err = inFile(args[0], errors.New("no such file, and no session of that id"))
		}
		return session.Key{}, hintError{err, idHint(all, args[0])}
	case 1:
		return found[0], nil
	}
	list := fmt.Sprintf("%d sessions begin with %q:", len(found), text.Sanitize(args[0], 60))
	for i, key := range found {
		if i == maxListed {
			list += fmt.Sprintf("\n  and %d more", len(found)-i)
			break
		}
		list += fmt.Sprintf("\n  %s  %s", text.Sanitize(key.SessionID, 60), key.Host)
	}
	return session.Key{}, hintError{errors.New(list), "type more of the id, or use --host"}
}

// maxListed is how many of the sessions that an id may stand for an error lists.
const maxListed = 8

// idHint says what to do about an id that no session has: it may be pasted with what stood around it, or be that of a sub-agent, which
// a list shows below its session.
func idHint(all []core.SessionView, id string) string {
	if bare := strings.Trim(id, " \t\"'`“”‘’«»<>()[].…"); bare != "" {
		for _, v := range all {
			if len(bare) <= len(v.SessionID) && strings.EqualFold(v.SessionID[:len(bare)], bare) {
				return "did you mean " + text.Sanitize(v.SessionID[:len(bare)], 60) + "?"
			}
		}
	}
	for _, v := range all {
		for _, agent := range slices.Concat(v.Agents, v.AgentsEnded) {
			if strings.HasPrefix(agent.AgentID, id) {
				return "it is a sub-agent of " + text.Sanitize(v.SessionID, 60)
			}
		}
	}
	if host, err := hostNamed("", id); err == nil {
		return "did you mean --host " + string(host) + "?"
	}
	for _, v := range all {
		if strings.EqualFold(path.Base(pathname.Slashed(v.CWD, pathname.OnWindows)), id) {
			return fmt.Sprintf("its newest session in %s is %s", text.Sanitize(id, 60), text.Sanitize(v.SessionID, 60))
		}
	}
	if slices.Contains([]string{"latest", "last", "newest", "current"}, id) {
		return "without an id, it is the session that was active last"
	}
	return "'ctxls sessions --all' lists them"
}

// hasOther reports whether another host has a session of the same id.
func hasOther(all []core.SessionView, v core.SessionView) bool {
	for _, other := range all {
		if other.SessionID == v.SessionID && other.Host != v.Host {
			return true
		}
	}
	return false
}

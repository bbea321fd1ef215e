package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/completion"

	"github.com/ctxls/ctxls/internal/audit"
	"github.com/ctxls/ctxls/internal/contextfiles"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/ui"
)

var auditCommand = command{
	name: "audit", synopsis: "[DIR] [--host HOST] [--what-if CHANGE] [--check] [--max N] [--format FORM]", short: "show what fills the window before the first prompt, and what of it is broken",
	long: `
Shows what a session that starts in DIR holds before its first prompt: system prompt, tools, memory files with what they
import, rules, skills, commands and agents, each in tokens. Audit knows Claude Code, OpenCode, Codex and Gemini CLI, and shows
those that have settings on this machine. It does not know Qwen Code and pi yet. DIR is the current directory unless it is
named. "~" marks counts in an encoding that is not the model's. A figure in parentheses is of a file that is loaded later, with
the first file that it concerns.

Findings are defects: imports that are not loaded, files that are cut or dropped, descriptions that are cut, rules that match
no file. docs/context-files.md explains each code, and lists the rules of each host with their evidence.

--check exits with 1 if there are findings, --max if a host's total is larger. --what-if "rm FILE" computes the audit as if
FILE were removed; it changes nothing. MCP servers are not started.`,
	examples: `ctxls audit
ctxls audit ~/shop --host claude-code
ctxls audit --what-if "rm CLAUDE.local.md"
ctxls audit --check --max 30k --format github
ctxls audit --format sarif > ctxls.sarif
ctxls audit --json | jq '.hosts[] | {host, tokens}'`,
	offers: func(_ context.Context, _ *app, o *completion.Offer, _ []string) { o.Paths = "dirs" },
	setup: func(fs *pflag.FlagSet) action {
		var f auditFlags
		fs.StringVar(&f.host, "host", "", "`host` to audit (default: those that audit knows, with settings on this machine)")
		fs.StringArrayVar(&f.whatIf, "what-if", nil, "`change` to assume: \"rm FILE\"; may be repeated")
		fs.BoolVar(&f.check, "check", false, "exit with 1 if there are findings")
		fs.StringVar(&f.max, "max", "", "exit with 1 if a host's total is above this many `tokens`, such as 20k")
		fs.StringVar(&f.format, "format", "text", "`form` of the output: text, json, sarif, or github for annotations of GitHub Actions")
		asJSON := fs.Bool("json", false, "print JSON, as context/audit does; same as --format json")
		f.styled.add(fs)
		return func(_ context.Context, a *app, args []string) error {
			if *asJSON {
				f.format = "json"
			}
			return f.run(a, args)
		}
	},
}

type auditFlags struct {
	host, max, format string
	whatIf            []string
	check             bool
	styled            styleFlags
}

func (f *auditFlags) run(a *app, args []string) error {
	if len(args) > 1 {
		return usageError{"audit takes one directory"}
	}
	limit, ok := text.ParseTokens(cmp.Or(f.max, "0"))
	if !ok || limit < 0 || limit == 0 && f.max != "" {
		return usageError{fmt.Sprintf("--max: want a number of tokens such as 20000 or 20k, got %q", text.Sanitize(f.max, 40))}
	}
	style, err := f.styled.style(a)
	if err != nil {
		return err
	}
	dir := a.cwd
	if len(args) == 1 {
		if dir = args[0]; !filepath.IsAbs(dir) {
			dir = filepath.Join(a.cwd, dir)
		}
		if !dirExists(dir) {
			if _, err := os.Stat(dir); err == nil {
				return fmt.Errorf("%s: not a directory", args[0])
			}
			return fmt.Errorf("%s: no such directory", args[0])
		}
		d, err := os.Open(dir)
		if err != nil {
			return fmt.Errorf("%s: cannot be read: %w", args[0], errors.Unwrap(err))
		}
		d.Close()
	}
	if dir == "" {
		return errors.New("the current directory is gone")
	}
	o := a.auditOptions(dir)
	if f.host != "" {
		if !slices.Contains(contextfiles.Hosts, session.Host(f.host)) {
			var names []string
			for _, h := range contextfiles.Hosts {
				names = append(names, string(h))
			}
			if _, known := registry.Find(session.Host(f.host)); known {
				return usageError{fmt.Sprintf("--host: audit does not know %s yet; use %s", f.host, text.OneOf(names))}
			}
			return unknownHost(fmt.Sprintf("--host: use %s; got %q", text.OneOf(names), text.Sanitize(f.host, 60)), f.host, names)
		}
		o.Hosts = []session.Host{session.Host(f.host)}
	}
	o.WhatIf = f.whatIf
	report, err := audit.Run(o)
	if err != nil {
		return planFlags(err)
	}
	switch f.format {
	case "text":
		err = ui.Audit(a.stdout, report, a.home, style)
	case "json":
		err = printJSON(a.stdout, report)
	case "sarif":
		err = audit.SARIF(a.stdout, report, versionString())
	case "github":
		err = audit.GitHub(a.stdout, report)
	default:
		err = usageError{fmt.Sprintf("--format: want text, json, sarif or github, got %q", text.Sanitize(f.format, 40))}
	}
	if err != nil {
		return err
	}
	return f.verdict(report, limit)
}

// verdict returns an error where --check or --max are not met.
func (f *auditFlags) verdict(r *audit.AuditReport, limit int) error {
	var over []string
	for _, h := range r.Hosts {
		if limit > 0 && h.Tokens > limit {
			over = append(over, fmt.Sprintf("%s: %s tokens, more than --max %s", h.Host, text.Thousands(h.Tokens), text.Thousands(limit)))
		}
	}
	if f.check && len(r.Findings) > 0 {
		over = append(over, ui.Count(len(r.Findings), "finding"))
	}
	if over == nil {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(over, "\n"))
}

// auditOptions returns the options of an audit of a directory, for the hosts that have settings on this machine.
func (a *app) auditOptions(dir string) audit.Options {
	env := contextfiles.Env{Files: contextfiles.NewReader(contextfiles.Disk{}), Home: a.home, Dir: filepath.Clean(dir), Getenv: a.getenv}
	return audit.Options{Env: env, Hosts: contextfiles.Installed(env), Recorded: func(host session.Host) *session.RequestRecord { return a.recorded(host, dir) }}
}

// recorded returns what a host's records say of the last request of a session that was started in dir, nil if they say nothing.
func (a *app) recorded(name session.Host, dir string) *session.RequestRecord {
	h, _ := registry.Find(name)
	if h.Records == nil {
		return nil
	}
	reader, ok := h.Records(a.env()).(interface {
		LastRequest(ctx context.Context, dir string) (*session.RequestRecord, error)
	})
	if !ok {
		return nil
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil { // hosts name their records after the real path
		dir = real
	}
	r, err := reader.LastRequest(context.Background(), dir)
	if err != nil {
		a.log.Warn("record of requests not read", "host", name, "error", err)
	}
	return r
}

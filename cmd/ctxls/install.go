package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/host/settings"
	"github.com/ctxls/ctxls/internal/install"
)

var installCommand = command{
	name: "install", synopsis: "[HOST] [--user|--project|--local] [--statusline] [--agents] [--dry-run] [--json]", short: "make an agent host run ctxls at its events",
	long: `
Edits one settings file, so that the host runs ctxls. Nothing else in the file changes: comments, order and other hooks stay. The
old file is kept beside it as FILE.ctxls-backup. The file for opencode is a plugin that belongs to ctxls
alone. Codex runs hooks only after you trust them; install says how.

With --statusline, ctxls becomes the status line too. ctxls runs a status line that you have already, and shows it after its own.
With --agents, ctxls prints the rows of Claude Code's sub-agents, each with the share of its own window. Claude Code calls this
setting deprecated: it works in 2.1.329, and will end in a later version.

Without HOST, install lists the hosts on this machine and what it would change for each. Then, and with --dry-run, nothing is changed.`,
	more: installFiles,
	examples: `ctxls install
ctxls install claude-code --statusline
ctxls install claude-code --local --dry-run
ctxls install opencode
ctxls install codex
ctxls install gemini-cli --project`,
	words: installableHosts(),
	setup: func(fs *pflag.FlagSet) action {
		scope := scopeFlags(fs)
		links := fs.Bool("follow-links", false, "edit a project's settings where a symbolic link leads out of the project, too")
		statusline := fs.Bool("statusline", false, "also show the gauge in the host's status line, before your own")
		agents := fs.Bool("agents", false, "also show the gauge in the row of each sub-agent")
		dryRun := fs.Bool("dry-run", false, "print the change as a diff, and write nothing")
		asJSON := fs.Bool("json", false, "print the list of all hosts as JSON, including those not on this machine")
		return func(_ context.Context, a *app, args []string) error {
			switch {
			case *asJSON && len(args) > 0:
				return usageError{"install --json takes no host"}
			case len(args) == 0 && *statusline:
				return usageError{"install --statusline takes a host: " + strings.Join(installableHosts(), ", ")}
			case len(args) == 0 && *agents:
				return usageError{"install --agents takes a host: claude-code"}
			case len(args) == 0:
				chosen, err := chosenScope(scope)
				if err != nil {
					return err
				}
				plans := install.DetectHosts(registry.Installable(), chosen, a.env())
				if *asJSON {
					return printJSON(a.stdout, map[string][]install.HostPlan{"hosts": plans})
				}
				a.printPlans(plans)
				return nil
			}
			target, err := a.target("install", scope, *links, args)
			if err != nil {
				return err
			}
			if _, ok := target.Installer.(host.StatusLiner); *statusline && !ok {
				return usageError{fmt.Sprintf("%s has no status line", target.Name)}
			}
			if _, ok := target.Installer.(host.AgentLiner); *agents && !ok {
				return usageError{fmt.Sprintf("%s has no rows of sub-agents", target.Name)}
			}
			executable, err := install.Executable()
			if err != nil {
				return err
			}
			change, err := target.PlanInstall(executable, install.Lines{Status: *statusline, Agents: *agents})
			after := target.Installer.Profile().AfterInstall
			switch {
			case err != nil:
				return err
			case len(change.Done) == 0:
				a.say("nothing to do: %s runs ctxls already", target.File.Path)
				for _, note := range target.Installer.Blocked(target.File.Text, true) {
					fmt.Fprintf(a.stdout, "  %s\n", note)
				}
				if after != "" {
					fmt.Fprintln(a.stdout, after)
				}
				return nil
			case *dryRun:
				return a.printDiff(target.File, change.After)
			}
			if change, err = target.Install(change); err != nil {
				return notWritten(target.File, err)
			}
			a.printDone(target.File, change.Done)
			if *statusline {
				for _, note := range target.OtherStatusLines(a.env()) {
					a.say("%s", note)
				}
			}
			fmt.Fprintf(a.stdout, "%s 'ctxls sessions' shows them. 'ctxls uninstall %s' undoes this.\n", cmp.Or(after, "Sessions that start from now on run ctxls."), target.Name)
			return nil
		}
	},
}

var uninstallCommand = command{
	name: "uninstall", synopsis: "HOST [--user|--project|--local] [--dry-run]", short: "remove ctxls from an agent host's settings",
	long: `
Removes what install added, and nothing else. Later changes to the file stay. Your own status line is restored. If install
created the file and its directories, they are removed too.`,
	examples: "ctxls uninstall claude-code\nctxls uninstall claude-code --local --dry-run",
	words:    installableHosts(),
	setup: func(fs *pflag.FlagSet) action {
		scope := scopeFlags(fs)
		links := fs.Bool("follow-links", false, "edit a project's settings where a symbolic link leads out of the project, too")
		dryRun := fs.Bool("dry-run", false, "print the change as a diff, and write nothing")
		return func(_ context.Context, a *app, args []string) error {
			target, err := a.target("uninstall", scope, *links, args)
			if err != nil {
				return err
			}
			change, err := target.PlanUninstall()
			switch {
			case err != nil:
				return err
			case len(change.Done) == 0:
				a.say("nothing to do: %s does not run ctxls", target.File.Path)
				return nil
			case *dryRun:
				return a.printDiff(target.File, change.After)
			}
			if change, err = target.Uninstall(change); err != nil {
				return notWritten(target.File, err)
			}
			if change.After == nil {
				change.Done = append(change.Done, "file removed, since it held nothing else")
			}
			a.printDone(target.File, change.Done)
			return nil
		}
	},
}

// installFiles lists the files that install edits, for its help.
func installFiles() string {
	b := strings.Builder{}
	b.WriteString("Files:\n")
	env := host.Env{Getenv: func(string) string { return "" }, Home: "~"}
	for _, h := range registry.Installable() {
		profile := h.Installer.Profile()
		for _, scope := range profile.Scopes {
			fmt.Fprintf(&b, "  %-12s--%-9s%s", h.Name, scope, filepath.ToSlash(h.Installer.SettingsFile(scope, env)))
			if scope == settings.User {
				fmt.Fprintf(&b, ", or below $%s", profile.HomeVar)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// scopeFlags defines the flags that choose the scope.
func scopeFlags(fs *pflag.FlagSet) map[settings.Scope]*bool {
	return map[settings.Scope]*bool{
		settings.User:    fs.Bool("user", false, "use the user's settings (the default)"),
		settings.Project: fs.Bool("project", false, "use the project's shared settings"),
		settings.Local:   fs.Bool("local", false, "use the user's settings for this project"),
	}
}

// chosenScope returns the scope that the flags choose.
func chosenScope(flags map[settings.Scope]*bool) (settings.Scope, error) {
	scope, chosen := settings.User, 0
	for s, set := range flags {
		if *set {
			scope = s
			chosen++
		}
	}
	if chosen > 1 {
		return "", usageError{"--user, --project and --local exclude each other"}
	}
	return scope, nil
}

// target opens the settings file that a command line names.
func (a *app) target(command string, flags map[settings.Scope]*bool, links bool, args []string) (*install.Target, error) {
	hosts := strings.Join(installableHosts(), ", ")
	if len(args) != 1 {
		return nil, usageError{command + " takes one host: " + hosts}
	}
	h, ok := registry.Find(session.Host(args[0]))
	if !ok || h.Installer == nil {
		return nil, unknownHost(fmt.Sprintf("%s: no host %q; use one of: %s", command, text.Sanitize(args[0], 60), hosts), args[0], installableHosts())
	}
	scope, err := chosenScope(flags)
	if err != nil {
		return nil, err
	}
	target, err := install.Open(h, scope, a.env(), links)
	if wrong, ok := errors.AsType[install.ScopeError](err); ok {
		return nil, usageError{wrong.Error()}
	}
	return target, err
}

func installableHosts() []string { return registry.Names(registry.Installable()) }

// printPlans shows the hosts that were found, and what installing into each would do.
func (a *app) printPlans(plans []install.HostPlan) {
	none, first := true, "HOST"
	for _, p := range plans {
		if !p.Found {
			continue
		}
		none = false
		if first == "HOST" && len(p.Changes) > 0 {
			first = string(p.Host)
			if p.StatusLine {
				first += " --statusline"
			}
		}
		var where []string
		for _, place := range []*string{p.Program, p.Directory} {
			if place != nil {
				where = append(where, text.Sanitize(*place, 0))
			}
		}
		fmt.Fprintf(a.stdout, "%s (%s)\n", p.Host, strings.Join(where, ", "))
		switch {
		case p.Problem != nil:
			a.say("  cannot be done: %s", *p.Problem)
		case len(p.Changes) == 0:
			a.say("  nothing to do: %s runs ctxls already", *p.File)
		default:
			a.say("  would change %s", *p.File)
		}
		for _, change := range append(p.Changes, p.Blocked...) {
			a.say("    %s", change)
		}
		if p.Advice != "" && p.Problem == nil {
			fmt.Fprintf(a.stdout, "  note: %s\n", p.Advice)
		}
	}
	if none {
		fmt.Fprintf(a.stdout, "No supported host was found. ctxls installs into %s.\n", strings.Join(installableHosts(), ", "))
		return
	}
	fmt.Fprintf(a.stdout, "Preview only. Run 'ctxls install %s' to apply, or 'ctxls setup' for all hosts.\n", first)
}

// printDiff shows a change.
func (a *app) printDiff(file *settings.File, after []byte) error {
	_, err := io.WriteString(a.stdout, a.diffOf(file, after))
	return err
}

// diffOf returns a change as a diff. It sanitizes the text, which may come from a cloned repository; only tabs stay.
func (a *app) diffOf(file *settings.File, after []byte) string {
	name := text.Sanitize(file.Path, 0)
	pieces := strings.Split(string(diff.Diff(name, file.Text, name+" (new)", after)), "\t")
	for i, piece := range pieces {
		pieces[i] = text.SanitizeLines(piece)
	}
	return strings.Join(pieces, "\t")
}

func (a *app) printDone(file *settings.File, done []string) {
	a.say("%s", file.Path)
	for _, what := range done {
		a.say("  %s", what)
	}
}

// say prints a sanitized line. Names of files and directories are data.
func (a *app) say(format string, values ...any) {
	fmt.Fprintln(a.stdout, text.Sanitize(fmt.Sprintf(format, values...), 0))
}

// notWritten names the file in an error of writing it: the error of the system names a temporary one beside it.
func notWritten(file *settings.File, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s cannot be written: %w", file.Path, path.Err)
	}
	return err
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host/settings"
)

var installCommand = command{
	name: "install", synopsis: "[HOST] [--user|--project|--local] [--statusline] [--dry-run] [--json]", short: "have an agent host run ctxls at its events",
	long: `
Adds ctxls to the host's settings: for claude-code to ~/.claude/settings.json (--user, or below $CLAUDE_CONFIG_DIR), to
.claude/settings.json (--project, shared with everybody who works on it) or to .claude/settings.local.json (--local); for codex
to ~/.codex/hooks.json (--user, or below $CODEX_HOME) or to .codex/hooks.json (--project); for gemini-cli to
~/.gemini/settings.json (--user, or below $GEMINI_CLI_HOME) or to .gemini/settings.json (--project). Codex runs hooks only once
they are trusted; install says how.

Without a host it lists those that are on this machine, by their program or their directory, and what it would do to each; then,
and with --dry-run, nothing is changed.

Nothing else in the file changes: comments, order, other hooks and spelling stay. The file as it was is kept beside it, with
` + "`.ctxls-backup`" + ` at the end of its name. For opencode it is a plugin of its own, ctxls.js, below ~/.config/opencode/plugin
(--user, or below $XDG_CONFIG_HOME) or .opencode/plugin (--project). With --statusline ctxls becomes the status line too; one that is there already is
run by ctxls and shown after its own.`,
	examples: `ctxls install
ctxls install claude-code --statusline
ctxls install claude-code --local --dry-run
ctxls install opencode
ctxls install codex
ctxls install gemini-cli --project`,
	words: installableHosts(),
	setup: func(fs *pflag.FlagSet) action {
		scope := scopeFlags(fs)
		statusline := fs.Bool("statusline", false, "make ctxls the status line too, before the one that is there")
		dryRun := fs.Bool("dry-run", false, "print what would change as a diff, and change nothing")
		asJSON := fs.Bool("json", false, "print the list of hosts as JSON, those that are not on this machine too")
		return func(_ context.Context, a *app, args []string) error {
			switch {
			case *asJSON && len(args) > 0:
				return usageError{"install --json takes no host"}
			case len(args) == 0 && *statusline:
				return usageError{"install --statusline takes a host: " + strings.Join(installableHosts(), ", ")}
			case len(args) == 0:
				chosen, err := chosenScope(scope)
				if err != nil {
					return err
				}
				s := a.survey(chosen)
				if *asJSON {
					return printJSON(a.stdout, s)
				}
				a.printSurvey(s)
				return nil
			}
			target, err := a.target("install", scope, args)
			if err != nil {
				return err
			}
			if *statusline && !target.statusline {
				return usageError{fmt.Sprintf("%s has no status line that runs a command", target.host)}
			}
			file := target.file
			executable, err := a.executable()
			if err != nil {
				return err
			}
			after, done, err := target.install(file.Path, file.Text, executable, *statusline)
			switch {
			case err != nil:
				return err
			case len(done) == 0:
				a.say("nothing to do: %s runs ctxls already", file.Path)
				for _, note := range target.notesOn(file.Text) {
					fmt.Fprintf(a.stdout, "  %s\n", note)
				}
				if target.trust != "" {
					fmt.Fprintln(a.stdout, target.trust)
				}
				return nil
			case *dryRun:
				return a.printDiff(file, after)
			}
			_, present, err := target.uninstall(file.Path, file.Text, nil)
			if err != nil {
				return err
			}
			if err := file.Replace(after, len(present) == 0); err != nil {
				return err
			}
			a.printDone(file, done)
			if *statusline {
				a.noteOtherStatusLines(target.scope, file.Path)
			}
			fmt.Fprintf(a.stdout, "%s 'ctxls sessions' shows them. 'ctxls uninstall %s' undoes this.\n", cmp.Or(target.trust, "Sessions that start from now on run ctxls."), target.host)
			return nil
		}
	},
}

var uninstallCommand = command{
	name: "uninstall", synopsis: "HOST [--user|--project|--local] [--dry-run]", short: "take ctxls out of an agent host's settings",
	long: `
Takes out what install added, wherever ctxls lies by now, and nothing else: what was changed in the file since stays. A status
line that ctxls was put before is as it was. The file and the directory go where install had made them.`,
	examples: "ctxls uninstall claude-code\nctxls uninstall claude-code --local --dry-run",
	words:    installableHosts(),
	setup: func(fs *pflag.FlagSet) action {
		scope := scopeFlags(fs)
		dryRun := fs.Bool("dry-run", false, "print what would change as a diff, and change nothing")
		return func(_ context.Context, a *app, args []string) error {
			target, err := a.target("uninstall", scope, args)
			if err != nil {
				return err
			}
			file := target.file
			after, done, err := target.uninstall(file.Path, file.Text, file.Before())
			switch {
			case err != nil:
				return err
			case len(done) == 0:
				a.say("nothing to do: %s does not run ctxls", file.Path)
				return nil
			case *dryRun:
				return a.printDiff(file, after)
			}
			if after == nil {
				err = file.Remove()
				done = append(done, "the file removed, since nothing else was in it")
			} else {
				err = file.Replace(after, false)
			}
			if err == nil {
				err = file.Forget()
			}
			if err != nil {
				return err
			}
			a.printDone(file, done)
			return nil
		}
	},
}

// scopeFlags defines the flags that choose whose settings are meant.
func scopeFlags(fs *pflag.FlagSet) map[settings.Scope]*bool {
	return map[settings.Scope]*bool{
		settings.User:    fs.Bool("user", false, "the settings of this user (the default)"),
		settings.Project: fs.Bool("project", false, "the settings that everybody in this project shares"),
		settings.Local:   fs.Bool("local", false, "the settings of this user in this project"),
	}
}

// chosenScope returns the one that the flags choose.
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

// target is what a command line of install or uninstall names.
type target struct {
	installer
	scope settings.Scope
	file  *settings.File
}

// target opens the settings that a command line names.
func (a *app) target(command string, flags map[settings.Scope]*bool, args []string) (*target, error) {
	if len(args) != 1 {
		return nil, usageError{command + " takes one host: " + strings.Join(installableHosts(), ", ")}
	}
	i := slices.IndexFunc(installers, func(i installer) bool { return string(i.host) == args[0] })
	if i < 0 {
		return nil, usageError{fmt.Sprintf("%s: no host %q that ctxls installs into; it takes one of: %s", command, core.Sanitize(args[0], 60), strings.Join(installableHosts(), ", "))}
	}
	chosen, err := chosenScope(flags)
	if err != nil {
		return nil, err
	}
	t := &target{installer: installers[i], scope: chosen}
	if !slices.Contains(t.scopes, t.scope) {
		return nil, usageError{fmt.Sprintf("%s has no --%s settings; it has %v", t.host, t.scope, t.scopes)}
	}
	t.file, err = a.openSettings(t.installer, t.scope)
	return t, err
}

// openSettings opens the settings of a host's scope.
func (a *app) openSettings(i installer, scope settings.Scope) (*settings.File, error) {
	if scope == settings.User && a.home == "" && a.getenv(i.homeVar) == "" {
		return nil, hintError{fmt.Errorf("no home directory"), "set HOME or " + i.homeVar + ", or use --project"}
	}
	path, err := filepath.Abs(i.settingsFile(scope, a.getenv, a.home, a.cwd))
	if err != nil {
		return nil, err
	}
	file, err := settings.Open(path)
	if err == nil {
		file.Dirs = i.dirs
	}
	return file, err
}

// executable returns the absolute path by which hosts are to run this program: as found on the PATH where that is this one,
// since a package manager replaces what lies behind it, else where it lies.
func (a *app) executable() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if found, err := exec.LookPath("ctxls"); err == nil && filepath.IsAbs(found) && sameFile(found, self) {
		self = found
	}
	if !settings.IsOwn(self) {
		return "", hintError{fmt.Errorf("this program is called %s", filepath.Base(self)), "name it ctxls: that is how its hooks are recognised"}
	}
	return filepath.ToSlash(self), nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// printDiff shows what would change. What stands in the file may be anybody's, as in a cloned repository; only tabs stay as they are.
func (a *app) printDiff(file *settings.File, after []byte) error {
	name := core.Sanitize(file.Path, 0)
	pieces := strings.Split(string(diff.Diff(name, file.Text, name+" (new)", after)), "\t")
	for i, piece := range pieces {
		pieces[i] = core.SanitizeLines(piece)
	}
	_, err := io.WriteString(a.stdout, strings.Join(pieces, "\t"))
	return err
}

func (a *app) printDone(file *settings.File, done []string) {
	a.say("%s", file.Path)
	for _, what := range done {
		a.say("  %s", what)
	}
}

// say prints a line for people. Names in it are data: those of directories, too, are chosen by others.
func (a *app) say(format string, values ...any) {
	fmt.Fprintln(a.stdout, core.Sanitize(fmt.Sprintf(format, values...), 0))
}

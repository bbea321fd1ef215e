package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/hook/claudecode"
	"github.com/ctxls/ctxls/internal/hook/settings"
)

var installCommand = command{
	name: "install", synopsis: "HOST [--user|--project|--local] [--statusline] [--dry-run]", short: "have an agent host run ctxls at its events",
	long: `
Adds ctxls to the host's settings: for claude-code to ~/.claude/settings.json (--user, or below $CLAUDE_CONFIG_DIR), to
.claude/settings.json (--project, shared with everybody who works on it) or to .claude/settings.local.json (--local).
Nothing else in the file changes: comments, order, other hooks and spelling stay. The file as it was is kept beside it, with
` + "`.ctxls-backup`" + ` at the end of its name. With --statusline ctxls becomes the status line too; one that is there already is
run by ctxls and shown after its own.`,
	examples: `ctxls install claude-code --statusline
ctxls install claude-code --local --dry-run`,
	words: []string{string(core.HostClaudeCode)},
	setup: func(fs *pflag.FlagSet) action {
		scope := scopeFlags(fs)
		statusline := fs.Bool("statusline", false, "make ctxls the status line too, before the one that is there")
		dryRun := fs.Bool("dry-run", false, "print what would change as a diff, and change nothing")
		return func(_ context.Context, a *app, args []string) error {
			chosen, file, err := a.settingsFile("install", scope, args)
			if err != nil {
				return err
			}
			executable, err := a.executable()
			if err != nil {
				return err
			}
			after, done, err := claudecode.Install(file.Path, file.Text, executable, *statusline)
			switch {
			case err != nil:
				return err
			case len(done) == 0:
				fmt.Fprintf(a.stdout, "nothing to do: %s runs ctxls already\n", file.Path)
				return nil
			case *dryRun:
				return a.printDiff(file, after)
			}
			_, present, err := claudecode.Uninstall(file.Path, file.Text, nil)
			if err != nil {
				return err
			}
			if err := file.Replace(after, len(present) == 0); err != nil {
				return err
			}
			a.printDone(file, done)
			if *statusline {
				a.noteOtherStatusLines(chosen, file.Path)
			}
			fmt.Fprintln(a.stdout, "Sessions that start from now on run ctxls; 'ctxls sessions' shows them. 'ctxls uninstall claude-code' undoes this.")
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
	words:    []string{string(core.HostClaudeCode)},
	setup: func(fs *pflag.FlagSet) action {
		scope := scopeFlags(fs)
		dryRun := fs.Bool("dry-run", false, "print what would change as a diff, and change nothing")
		return func(_ context.Context, a *app, args []string) error {
			_, file, err := a.settingsFile("uninstall", scope, args)
			if err != nil {
				return err
			}
			after, done, err := claudecode.Uninstall(file.Path, file.Text, file.Before())
			switch {
			case err != nil:
				return err
			case len(done) == 0:
				fmt.Fprintf(a.stdout, "nothing to do: %s does not run ctxls\n", file.Path)
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
func scopeFlags(fs *pflag.FlagSet) map[claudecode.Scope]*bool {
	return map[claudecode.Scope]*bool{
		claudecode.User:    fs.Bool("user", false, "the settings of this user (the default)"),
		claudecode.Project: fs.Bool("project", false, "the settings that everybody in this project shares"),
		claudecode.Local:   fs.Bool("local", false, "the settings of this user in this project"),
	}
}

// settingsFile opens the settings that a command line names.
func (a *app) settingsFile(command string, flags map[claudecode.Scope]*bool, args []string) (claudecode.Scope, *settings.File, error) {
	if len(args) != 1 || args[0] != string(core.HostClaudeCode) {
		return "", nil, usageError{command + " takes one host: claude-code"}
	}
	scope, chosen := claudecode.User, 0
	for s, set := range flags {
		if *set {
			scope = s
			chosen++
		}
	}
	if chosen > 1 {
		return "", nil, usageError{"--user, --project and --local exclude each other"}
	}
	if scope == claudecode.User && a.home == "" && a.getenv("CLAUDE_CONFIG_DIR") == "" {
		return "", nil, hintError{fmt.Errorf("no home directory"), "set HOME or CLAUDE_CONFIG_DIR, or use --project or --local"}
	}
	file, err := a.openSettings(scope)
	return scope, file, err
}

func (a *app) openSettings(scope claudecode.Scope) (*settings.File, error) {
	path, err := filepath.Abs(claudecode.SettingsFile(scope, a.getenv, a.home, a.cwd))
	if err != nil {
		return nil, err
	}
	return settings.Open(path)
}

// noteOtherStatusLines says where another scope has a status line too: only one of them is shown.
func (a *app) noteOtherStatusLines(chosen claudecode.Scope, path string) {
	for i, scope := range claudecode.Scopes {
		file, err := a.openSettings(scope)
		if err != nil || file.Path == path || !claudecode.HasStatusLine(file.Text) {
			continue
		}
		if i > slices.Index(claudecode.Scopes, chosen) {
			fmt.Fprintf(a.stdout, "note: %s has a status line too, and here Claude Code shows that one; --%s puts ours before it\n", file.Path, scope)
		} else {
			fmt.Fprintf(a.stdout, "note: here this one is shown instead of that of %s; --%s would put ours before it\n", file.Path, scope)
		}
	}
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

func (a *app) printDiff(file *settings.File, after []byte) error {
	_, err := a.stdout.Write(diff.Diff(file.Path, file.Text, file.Path+" (new)", after))
	return err
}

func (a *app) printDone(file *settings.File, done []string) {
	fmt.Fprintf(a.stdout, "%s\n  %s\n", file.Path, strings.Join(done, "\n  "))
}

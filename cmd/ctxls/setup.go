package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/host/settings"
	"github.com/ctxls/ctxls/internal/install"
	"github.com/ctxls/ctxls/internal/ui"
)

var setupCommand = command{
	name: "setup", synopsis: "[--yes | --dry-run] [--no-statusline] [--color WHEN] [--width N]", short: "find the agent hosts here and install into all of them, after asking once",
	long: `
Finds the hosts and editors of this machine, shows the change of each settings file as a diff, previews the status line, and asks
once. Then it installs and runs 'ctxls doctor'. Without a terminal, and with --dry-run, it shows what it would do and changes
nothing. 'ctxls uninstall HOST' undoes it for each host.`,
	examples: "ctxls setup\nctxls setup --dry-run\nctxls setup --yes --no-statusline",
	setup: func(fs *pflag.FlagSet) action {
		yes := fs.BoolP("yes", "y", false, "do not ask")
		dryRun := fs.Bool("dry-run", false, "show the changes, and write nothing")
		plain := fs.Bool("no-statusline", false, "leave the status line of the host as it is")
		var styled styleFlags
		styled.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			switch {
			case len(args) > 0:
				return usageError{"setup takes no arguments; 'ctxls install HOST' installs into one host"}
			case *yes && *dryRun:
				return usageError{"--yes and --dry-run exclude each other"}
			}
			style, err := styled.style(a)
			if err != nil {
				return err
			}
			executable, err := install.Executable()
			if err != nil {
				return err
			}
			steps, problems := a.planSetup(executable, !*plain)
			if err := a.showSetup(steps, style); err != nil {
				return err
			}
			switch {
			case len(steps) > 0 && *dryRun:
				fmt.Fprintln(a.stdout, "Preview only. Run 'ctxls setup' in a terminal, or 'ctxls setup --yes', to apply.")
				return problems
			case len(steps) > 0 && !*yes && !a.canAsk():
				fmt.Fprintln(a.stdout, "Preview only: there is no terminal to ask on. Run 'ctxls setup --yes' to apply.")
				return problems
			case len(steps) > 0 && !*yes && !a.ask(ctx, fmt.Sprintf("Change %s? [y/N] ", filesOf(len(steps)))):
				fmt.Fprintln(a.stdout, "Nothing was changed.")
				return nil
			}
			problems = errors.Join(problems, a.applySetup(steps))
			if *dryRun || problems != nil {
				return problems
			}
			if len(steps) > 0 {
				fmt.Fprintln(a.stdout)
			}
			return a.diagnose(ctx, nil, false, style)
		}
	},
}

// step is the change of one host's settings.
type step struct {
	target *install.Target
	change install.Change
	after  string // what the user has to do then; "" is nothing
	shows  bool   // the status line
}

// planSetup lists the hosts that it finds and plans to install into each. Its error says which cannot be changed.
func (a *app) planSetup(executable string, statusline bool) (steps []step, problems error) {
	fmt.Fprintln(a.stdout, "Agent hosts:")
	found := false
	for n, plan := range install.DetectHosts(registry.Installable(), settings.User, a.env()) {
		if !plan.Found {
			continue
		}
		found = true
		h := registry.Installable()[n]
		state := func(s string) { a.say("  %-12s %s", plan.Host, s) }
		s, err := a.planStep(h, executable, statusline)
		switch {
		case err != nil:
			state("cannot be changed: " + err.Error())
			problems = errors.New("a host was left as it is; the list above says why")
		case s == nil:
			state("runs ctxls already")
		default:
			state("would change " + s.target.File.Path)
			for _, what := range s.change.Done {
				a.say("    %s", what)
			}
			steps = append(steps, *s)
		}
	}
	if !found {
		a.say("  none of %s is here; 'ctxls help hook' shows how another agent tells its events", text.OneOf(installableHosts()))
	}
	fmt.Fprintln(a.stdout, "\nEditors:")
	editors := a.editors()
	for _, e := range editors {
		a.say("  %-12s %s", e.name, e.advice)
	}
	if len(editors) == 0 {
		fmt.Fprintln(a.stdout, "  neither VS Code nor Neovim is here; 'ctxls sessions --watch' shows the gauge in any terminal")
	}
	fmt.Fprintln(a.stdout)
	return steps, problems
}

// planStep plans to install into a host; nil where nothing is left to do.
func (a *app) planStep(h host.Host, executable string, statusline bool) (*step, error) {
	target, err := install.Open(h, settings.User, a.env(), false)
	if err != nil {
		return nil, err
	}
	_, liner := h.Installer.(host.StatusLiner)
	change, err := target.PlanInstall(executable, install.Lines{Status: liner && statusline})
	if err != nil || len(change.Done) == 0 {
		return nil, err
	}
	return &step{target, change, h.Installer.Profile().AfterInstall, liner && statusline}, nil
}

// editorHere is an editor that can show the gauge.
type editorHere struct{ name, advice string }

// editors returns the editors of this machine. What they need is installed by themselves.
func (a *app) editors() (found []editorHere) {
	here := func(programs []string, dirs ...string) bool {
		return slices.ContainsFunc(programs, func(p string) bool { _, err := exec.LookPath(p); return err == nil }) ||
			slices.ContainsFunc(dirs, func(dir string) bool { return a.home != "" && dirExists(filepath.Join(a.home, dir)) })
	}
	if here([]string{"code", "code-insiders", "codium", "cursor"}, ".vscode", ".vscode-server") {
		found = append(found, editorHere{"VS Code", "install the extension; docs/getting-started/vscode.md"})
	}
	if here([]string{"nvim"}, filepath.Join(".config", "nvim")) {
		found = append(found, editorHere{"Neovim", "add the plugin; docs/getting-started/neovim.md"})
	}
	return found
}

// showSetup shows the change of each file, and the status line as it will be.
func (a *app) showSetup(steps []step, style ui.Style) error {
	const maxDiff = 40 // lines of a diff
	for _, s := range steps {
		lines := strings.SplitAfter(a.diffOf(s.target.File, s.change.After), "\n")
		if more := len(lines) - 1 - maxDiff; more > 0 { // a plugin is a file of its own
			lines = append(lines[:maxDiff], fmt.Sprintf("… %d more lines; 'ctxls install %s --dry-run' shows them\n", more, s.target.Name))
		}
		fmt.Fprintln(a.stdout, strings.Join(lines, ""))
	}
	i := slices.IndexFunc(steps, func(s step) bool { return s.shows })
	if i < 0 {
		return nil
	}
	fmt.Fprintf(a.stdout, "The status line of %s will look like this:\n\n", steps[i].target.Title)
	if err := ui.StatuslinePreview(a.stdout, a.settings("").Statusline.Format, style); err != nil {
		return err
	}
	own := steps[i].target.Installer.(host.StatusLiner).StatusLine(steps[i].target.File.Text)
	if own.Then != "" {
		a.say("  Your own status line follows it (%s).", text.Sanitize(own.Then, 60))
	}
	fmt.Fprintln(a.stdout)
	return nil
}

// applySetup makes the changes. A file that cannot be written keeps no other from being written.
func (a *app) applySetup(steps []step) (problems error) {
	made := 0
	for _, s := range steps {
		change, err := s.target.Install(s.change)
		if err != nil {
			problems = errors.Join(problems, notWritten(s.target.File, err))
			continue
		}
		made++
		a.printDone(s.target.File, change.Done)
		for _, note := range s.target.OtherStatusLines(a.env()) {
			a.say("  %s", note)
		}
		if s.after != "" {
			fmt.Fprintln(a.stdout, s.after)
		}
	}
	if made > 0 {
		fmt.Fprintln(a.stdout, "Start a new session of your agent; 'ctxls sessions' shows it. 'ctxls uninstall HOST' undoes this for a host.")
	}
	return problems
}

// canAsk reports whether a user can read a question and answer it.
func (a *app) canAsk() bool { return ui.Terminal(a.stdout) != nil && a.typed() }

// typed reports whether standard input is a terminal.
func (a *app) typed() bool {
	in, ok := a.stdin.(*os.File)
	return ok && term.IsTerminal(int(in.Fd()))
}

// ask asks a question and reports whether the answer is yes. An interrupt is no.
func (a *app) ask(ctx context.Context, question string) bool {
	fmt.Fprint(a.stdout, question)
	answered := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(a.stdin).ReadString('\n')
		answered <- line
	}()
	select {
	case line := <-answered:
		return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line)))
	case <-ctx.Done():
		fmt.Fprintln(a.stdout)
		return false
	}
}

// filesOf writes a number of files as a question names them.
func filesOf(n int) string {
	if n == 1 {
		return "this file"
	}
	return fmt.Sprintf("these %d files", n)
}

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/completion"
)

// action runs a command whose flags are parsed.
type action func(ctx context.Context, a *app, args []string) error

// command is one subcommand.
type command struct {
	name     string
	synopsis string // what follows the name
	short    string // its line in the list of commands
	long     string
	more     func() string // the end of long, built on demand since every hook starts this program; nil is none
	examples string        // one a line, as typed
	words    []string      // the values of its first argument, for completion
	// offers adds what may stand in the place of an argument, after those that are given; nil is words.
	offers func(ctx context.Context, a *app, o *completion.Offer, given []string)
	silent bool // a host runs it: it exits with exitOK even if the command line is invalid
	reads  bool // it only reads the state
	setup  func(*pflag.FlagSet) action
}

// commands lists the subcommands in the order in which help shows them.
func commands() []command {
	return []command{
		setupCommand,
		sessionsCommand,
		breakdownCommand,
		recallCommand,
		compactionsCommand,
		planCommand,
		auditCommand,
		alertsCommand,
		reportCommand,
		windowsCommand,
		measureCommand,
		trimCommand,
		installCommand,
		uninstallCommand,
		doctorCommand,
		importCommand,
		forgetCommand,
		configCommand,
		serveCommand,
		mcpCommand,
		hookCommand,
		statuslineCommand,
		completionCommand,
		versionCommand,
		helpCommand,
	}
}

func findCommand(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

var helpCommand = command{
	name: "help", synopsis: "[COMMAND]", short: "explain ctxls, or one of its commands",
	examples: "ctxls help\nctxls help hook",
}

func init() { // setup and words need commands(), which needs helpCommand
	for _, c := range commands() {
		helpCommand.words = append(helpCommand.words, c.name)
	}
	helpCommand.setup = func(*pflag.FlagSet) action {
		return func(_ context.Context, a *app, args []string) error {
			switch len(args) {
			case 0:
				printOverview(a.stdout)
				return nil
			case 1, 2:
				cmd, ok := findCommand(args[0])
				if !ok && len(args) == 1 {
					return unknownCommand(args[0], nil)
				}
				if ok && (len(args) == 1 || slices.Contains(cmd.words, args[1])) { // config check is explained with config
					printHelp(a.stdout, cmd)
					return nil
				}
			}
			return hintError{usageError{"help takes one command"}, "'ctxls help' lists the commands"}
		}
	}
}

func printOverview(w io.Writer) {
	fmt.Fprint(w, `ctxls measures how full the context windows of coding agents are, tells editors and agents, and keeps
what matters through compaction. It never calls the network.

Usage:
  ctxls COMMAND [flags]

Commands:
`)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-12s%s\n", c.name, c.short)
	}
	fmt.Fprint(w, `
Exit status:
  0  done; hook and statusline always exit 0, so that a host is never blocked
  1  the command failed
  2  the command line is invalid

'ctxls help COMMAND' shows flags and examples. 'ctxls config path' shows where settings are.
`)
}

func printHelp(w io.Writer, c command) {
	fmt.Fprintf(w, "%s\n\nUsage:\n  ctxls %s\n", sentence(c.short), strings.TrimSpace(c.name+" "+c.synopsis))
	if c.long != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(c.long))
	}
	if c.more != nil {
		fmt.Fprintf(w, "\n%s", c.more())
	}
	own := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	c.setup(own)
	if usages := own.FlagUsages(); usages != "" {
		fmt.Fprintf(w, "\nFlags:\n%s", usages)
	}
	global := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(app).globalFlags(global)
	fmt.Fprintf(w, "\nFlags of every command:\n%s", global.FlagUsages())
	if c.examples != "" {
		fmt.Fprint(w, "\nExamples:\n")
		for line := range strings.SplitSeq(c.examples, "\n") {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

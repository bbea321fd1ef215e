// Command ctxls-fleet carries the figures of this machine's sessions to a team's PostgreSQL or OpenTelemetry, and reads those of all
// machines. It is a program of its own so that ctxls cannot talk to a network. Each subcommand has a file of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/team/postgres"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], newApp(os.Stdin, os.Stdout, os.Stderr)))
}

// The exit statuses, as those of ctxls.
const (
	exitOK    = 0
	exitError = 1 // what was asked could not be done
	exitUsage = 2 // the command line itself is wrong
)

// usageError is a command line that cannot be understood.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

// action carries out a command with its flags parsed.
type action func(ctx context.Context, a *app) error

// command is one subcommand: what help says of it, and how it is set up.
type command struct {
	name     string
	synopsis string // what follows the name
	short    string // one line for the list
	long     string
	examples string // one a line, as typed
	setup    func(a *app, fs *pflag.FlagSet) action
}

// commands lists the subcommands in the order in which help shows them.
func commands() []command {
	return []command{pushCommand, metricsCommand, sessionsCommand, reportCommand, migrateCommand, pruneCommand}
}

// run carries out one command line and returns the exit status.
func run(ctx context.Context, args []string, a *app) int {
	defer a.close()
	name := "help"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "help", "-h", "--help":
		return a.help(args)
	case "version", "-v", "--version":
		fmt.Fprintln(a.stdout, "ctxls-fleet", versionString())
		return exitOK
	}
	if name == "completion" {
		return a.completion(args)
	}
	cmd, ok := find(name)
	if !ok {
		return a.unknown(name)
	}
	hint := fmt.Sprintf("see 'ctxls-fleet help %s'", cmd.name)
	fs := pflag.NewFlagSet(cmd.name, pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	a.globalFlags(fs)
	do := cmd.setup(a, fs)
	if err := fs.Parse(args); errors.Is(err, pflag.ErrHelp) {
		a.printHelp(cmd)
		return exitOK
	} else if err != nil {
		var names []string
		fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
			if near := text.NearestOrLonger(unknown.GetSpecifiedName(), names); near != "" {
				hint = "did you mean --" + near + "?"
			}
		}
		return a.fail(usageError{err.Error()}, hint)
	}
	if fs.NArg() > 0 {
		return a.fail(usageError{cmd.name + " takes no arguments"}, hint)
	}
	err := do(ctx, a)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return exitOK // the user ended it
	}
	if known, ok := errors.AsType[*postgres.Error](err); ok {
		hint = known.Hint
	} else if _, usage := errors.AsType[usageError](err); !usage {
		hint = ""
	}
	return a.fail(err, hint)
}

func find(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// fail says what went wrong in the voice of ctxls, with advice where there is some, and returns the exit status.
func (a *app) fail(err error, hint string) int {
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(a.stderr, "ctxls-fleet:", text.Sanitize(err.Error(), 0))
	if hint != "" {
		fmt.Fprintln(a.stderr, "ctxls-fleet: hint:", hint)
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitError
}

// help explains the program, or one command.
func (a *app) help(args []string) int {
	if len(args) > 0 {
		cmd, ok := find(args[0])
		if !ok {
			return a.unknown(args[0])
		}
		a.printHelp(cmd)
		return exitOK
	}
	fmt.Fprint(a.stdout, `ctxls-fleet carries the figures of this machine's sessions to a team's PostgreSQL or OpenTelemetry, and reads those
of all machines. It sends figures and names of hosts and models: no text, no path, no title.

Usage:
  ctxls-fleet COMMAND [flags]

Commands:
`)
	for _, c := range commands() {
		fmt.Fprintf(a.stdout, "  %-12s%s\n", c.name, c.short)
	}
	fmt.Fprint(a.stdout, `
Exit status: 0 done, 1 the command failed, 2 the command line is invalid.
'ctxls-fleet completion bash|zsh|fish' prints a completion script.

A database is named by a URL or by libpq's environment ($PGHOST, $PGUSER, ~/.pgpass, …). 'ctxls-fleet help COMMAND' shows flags
and examples.
`)
	return exitOK
}

func (a *app) printHelp(c command) {
	fmt.Fprintf(a.stdout, "%s.\n\nUsage:\n  ctxls-fleet %s %s\n", strings.ToUpper(c.short[:1])+c.short[1:], c.name, c.synopsis)
	if c.long != "" {
		fmt.Fprintf(a.stdout, "\n%s\n", strings.TrimSpace(c.long))
	}
	fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	c.setup(a, fs)
	a.globalFlags(fs)
	fmt.Fprintf(a.stdout, "\nFlags:\n%s\nExamples:\n", fs.FlagUsages())
	for line := range strings.SplitSeq(c.examples, "\n") {
		fmt.Fprintf(a.stdout, "  %s\n", line)
	}
}

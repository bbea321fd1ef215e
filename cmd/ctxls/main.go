// Command ctxls is a language server for context windows: it measures how full the context windows of the coding agents on this
// machine are. Each subcommand has its own file; `ctxls help` lists them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core/text"
)

// The exit statuses. hook and statusline always exit with exitOK, since a host takes anything else for a veto.
const (
	exitOK    = 0
	exitError = 1 // the command failed
	exitUsage = 2 // the command line is invalid
)

func main() {
	os.Exit(run(os.Args[1:], newApp(os.Stdin, os.Stdout, os.Stderr)))
}

// usageError is an invalid command line.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

// hinter is an error that says what to do about it.
type hinter interface {
	error
	Hint() string
}

// hintError adds a hint to an error.
type hintError struct {
	error
	hint string
}

func (e hintError) Unwrap() error { return e.error }
func (e hintError) Hint() string  { return e.hint }

// run executes one command line and returns the exit status.
func run(args []string, a *app) int {
	name, args := commandName(args)
	cmd, ok := findCommand(name)
	if !ok {
		return fail(a.stderr, unknownCommand(name, args))
	}
	fs := pflag.NewFlagSet(cmd.name, pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	a.globalFlags(fs)
	do := cmd.setup(fs)
	hint := fmt.Sprintf("see 'ctxls help %s'", cmd.name)
	err := checkValues(fs, args)
	if err == nil {
		err = fs.Parse(args)
	}
	if errors.Is(err, pflag.ErrHelp) {
		printHelp(a.stdout, cmd)
		return exitOK
	} else if err != nil {
		hint := flagHint(err, cmd)
		if h, ok := errors.AsType[hinter](err); ok {
			hint = h.Hint()
		}
		err = flagProblem(err)
		if cmd.silent { // a host must get no usage message
			fmt.Fprintln(a.stderr, "ctxls:", err)
			return exitOK
		}
		return fail(a.stderr, hintError{usageError{err.Error()}, hint})
	}
	ctx := context.Background()
	a.silent, a.reads = cmd.silent, cmd.reads
	a.interactive = !cmd.silent && cmd.name != serveCommand.name && cmd.name != mcpCommand.name
	if cmd.silent {
		debug.SetTraceback("crash")    // a fatal error of Go's runtime would exit with 2, a veto to every host; a signal is no veto
		signal.Ignore(syscall.SIGPIPE) // a hook exits with exitOK even if its host stops reading
	} else if err := a.checkFlags(); err != nil && cmd.name != configCommand.name {
		return fail(a.stderr, hintError{err, hint})
	} else {
		var stop context.CancelFunc // a hook does not catch signals: that costs a thread, and it has nothing to clean up
		ctx, stop = untilSignal(ctx)
		defer stop()
	}
	err = do(ctx, a, fs.Args())
	if cmd.silent {
		a.closeWithin(closeGrace)
	} else {
		a.close()
	}
	if usage, ok := errors.AsType[usageError](err); ok && !hasHint(err) {
		err = hintError{usage, argumentHint(fs, fs.Args(), hint)}
	}
	return fail(a.stderr, err)
}

// flagProblem rewrites the error of a flag with an invalid value, which would otherwise name the parsing function.
func flagProblem(err error) error {
	wrong, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	if usage, ok := errors.AsType[usageError](wrong.Unwrap()); ok {
		return usage
	}
	want := map[string]string{"bool": "true or false", "int": "a whole number", "int64": "a whole number",
		"tokens": "a number of tokens, such as 200000 or 200k"}[wrong.GetFlag().Value.Type()]
	if want == "" {
		return err
	}
	return fmt.Errorf("--%s: want %s, got %q", wrong.GetFlag().Name, want, text.Sanitize(wrong.GetValue(), 60))
}

// untilSignal returns a context that ends when the process gets an interrupt or a termination signal.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// commandName splits the command from the arguments. `ctxls --stdio` is `ctxls serve`, since language clients start servers like
// this, and `ctxls` alone is `ctxls help`. Global flags may come before the command.
func commandName(args []string) (string, []string) {
	global := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(app).globalFlags(global)
	before := 0
	for before < len(args) {
		flag, _, whole := strings.Cut(args[before], "=")
		if name, ok := strings.CutPrefix(flag, "--"); !ok || global.Lookup(name) == nil {
			break
		}
		if before++; !whole { // its value is the next argument
			before = min(before+1, len(args))
		}
	}
	flags, args := args[:before], args[before:]
	switch {
	case len(args) == 2 && (args[0] == "-h" || args[0] == "--help") && !strings.HasPrefix(args[1], "-"):
		return "help", args[1:]
	case len(args) == 0:
		return "help", flags // the last may lack its value
	case args[0] == "-h", args[0] == "--help":
		return "help", nil
	case args[0] == "--version", args[0] == "-v", args[0] == "-V":
		return "version", nil
	case args[0] == "--stdio":
		return "serve", slices.Concat(flags, args[1:])
	}
	return args[0], slices.Concat(flags, args[1:])
}

func hasHint(err error) bool {
	_, ok := errors.AsType[hinter](err)
	return ok
}

// fail prints "ctxls: ERROR" and "ctxls: hint: HINT", and returns the exit status.
func fail(stderr io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	for line := range strings.SplitSeq(err.Error(), "\n") { // the error may quote the command line
		fmt.Fprintln(stderr, "ctxls:", text.Sanitize(line, 0))
	}
	if h, ok := errors.AsType[hinter](err); ok {
		fmt.Fprintln(stderr, "ctxls: hint:", h.Hint())
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitError
}

package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/completion"
)

var completionCommand = command{
	name: "completion", synopsis: "bash|zsh|fish", short: "print a completion script for a shell",
	long: `
The script completes commands, flags, hosts, models, files and the ids of sessions. It asks ctxls for each word.`,
	words: completion.Shells,
	examples: `source <(ctxls completion bash)
ctxls completion zsh > "${fpath[1]}/_ctxls"
ctxls completion fish > ~/.config/fish/completions/ctxls.fish`,
}

func init() { // setup needs commands(), which needs completionCommand
	completionCommand.setup = func(*pflag.FlagSet) action {
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 0 && args[0] == "words" {
				fmt.Fprint(a.stdout, a.complete(ctx, args[1:]))
				return nil
			}
			if len(args) != 1 {
				return usageError{"completion takes one shell: bash, zsh or fish"}
			}
			script := completion.Script(args[0], "ctxls")
			if script == "" {
				return hintError{usageError{"completion takes one shell: bash, zsh or fish"}, didYouMean(args[0], completion.Shells, "%s", "see 'ctxls help completion'")}
			}
			fmt.Fprint(a.stdout, script)
			return nil
		}
	}
}

// flagsOf returns the flags of a command, its own before the global ones.
func flagsOf(c command) []*pflag.Flag {
	fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	fs.SortFlags = false
	c.setup(fs)
	new(app).globalFlags(fs)
	var flags []*pflag.Flag
	fs.VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
	return flags
}

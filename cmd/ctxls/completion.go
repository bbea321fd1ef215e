package main

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// The scripts ask 'ctxls completion words' for what may stand at the cursor, so that they need not be printed again for a new
// command, and can offer sessions.
var (
	//go:embed completion/ctxls.bash
	bashCompletion string
	//go:embed completion/ctxls.zsh
	zshCompletion string
	//go:embed completion/ctxls.fish
	fishCompletion string
)

var completionCommand = command{
	name: "completion", synopsis: "bash|zsh|fish", short: "print a completion script for a shell",
	long: `
The script completes commands, flags, hosts, models, files and the ids of sessions. It asks ctxls for each word.`,
	words: []string{"bash", "zsh", "fish"},
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
			switch args[0] {
			case "bash":
				fmt.Fprint(a.stdout, bashCompletion)
			case "zsh":
				fmt.Fprint(a.stdout, zshCompletion)
			case "fish":
				fmt.Fprint(a.stdout, fishCompletion)
			default:
				return hintError{usageError{"completion takes one shell: bash, zsh or fish"}, didYouMean(args[0], completionCommand.words, "%s", "see 'ctxls help completion'")}
			}
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

// offer is what may stand at the cursor. Its first line is "files" or "dirs" where names of those may too, and "words" otherwise; a
// line for each word follows, with a tab before its description.
type offer struct {
	paths string
	lines []string
}

func (o *offer) add(word, description string) {
	o.lines = append(o.lines, word+"\t"+strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' {
			return ' '
		}
		return r
	}, description))
}

func (o *offer) addAll(words []string) {
	for _, word := range words {
		o.add(word, "")
	}
}

// print returns the offer as the scripts read it, without words that do not go on from cur.
func (o *offer) print(before, cur string) string {
	var b strings.Builder
	first := "words"
	if o.paths != "" {
		first = o.paths
	}
	b.WriteString(first + "\n")
	for _, line := range o.lines {
		if strings.HasPrefix(line, cur) {
			b.WriteString(before + line + "\n")
		}
	}
	return b.String()
}

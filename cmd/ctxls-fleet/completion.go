package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/completion"
	"github.com/ctxls/ctxls/internal/core/text"
)

// unknown reports a command that there is not, with the likely one.
func (a *app) unknown(name string) int {
	hint := "'ctxls-fleet help' lists the commands"
	if near := text.NearestOrLonger(name, names()); near != "" {
		hint = "did you mean 'ctxls-fleet " + near + "'?"
	}
	return a.fail(usageError{fmt.Sprintf("unknown command %q", text.Sanitize(name, 60))}, hint)
}

// names returns the names of all commands.
func names() []string {
	all := []string{"help", "version", "completion"}
	for _, c := range commands() {
		all = append(all, c.name)
	}
	return all
}

// completion prints the script of a shell, or what may stand at the cursor.
func (a *app) completion(args []string) int {
	if len(args) > 1 && args[0] == "words" {
		words := args[1:]
		if words[0] == "--" {
			words = words[1:]
		}
		fmt.Fprint(a.stdout, a.complete(words))
		return exitOK
	}
	script := ""
	if len(args) == 1 {
		script = completion.Script(args[0], "ctxls-fleet")
	}
	if script == "" {
		return a.fail(usageError{"completion takes one shell: bash, zsh or fish"}, "'source <(ctxls-fleet completion bash)' loads it")
	}
	fmt.Fprint(a.stdout, script)
	return exitOK
}

// complete returns what may stand in the place of the last of the words that follow "ctxls-fleet" on a command line.
func (a *app) complete(words []string) string {
	var o completion.Offer
	switch {
	case len(words) == 0:
		return o.Print("", "")
	case len(words) == 1:
		for _, c := range commands() {
			o.Add(c.name, c.short)
		}
		o.AddAll([]string{"help", "version", "completion"})
		return o.Print("", words[0])
	}
	cur, before := words[len(words)-1], words[len(words)-2]
	if words[0] == "help" || words[0] == "completion" {
		o.AddAll(map[string][]string{"help": names(), "completion": completion.Shells}[words[0]])
		return o.Print("", cur)
	}
	cmd, ok := find(words[0])
	if !ok {
		return o.Print("", cur)
	}
	fs := pflag.NewFlagSet(cmd.name, pflag.ContinueOnError)
	cmd.setup(a, fs)
	a.globalFlags(fs)
	if f := fs.Lookup(strings.TrimPrefix(before, "--")); f != nil && f.NoOptDefVal == "" && strings.HasPrefix(before, "--") {
		switch f.Name {
		case "config", "state":
			o.Paths = "files"
		case "projects":
			o.AddAll([]string{"name", "hash", "none"})
		}
		return o.Print("", cur)
	}
	fs.VisitAll(func(f *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(f)
		o.Add("--"+f.Name, usage)
	})
	return o.Print("", cur)
}

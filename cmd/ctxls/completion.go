package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

var completionCommand = command{
	name: "completion", synopsis: "bash|zsh|fish", short: "print a completion script for a shell",
	words: []string{"bash", "zsh", "fish"},
	examples: `source <(ctxls completion bash)
ctxls completion zsh > "${fpath[1]}/_ctxls"
ctxls completion fish > ~/.config/fish/completions/ctxls.fish`,
}

func init() { // setup needs commands(), which needs completionCommand
	scripts := map[string]func(io.Writer){"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
	completionCommand.setup = func(*pflag.FlagSet) action {
		return func(_ context.Context, a *app, args []string) error {
			if len(args) != 1 || scripts[args[0]] == nil {
				return usageError{"completion takes one shell: bash, zsh or fish"}
			}
			scripts[args[0]](a.stdout)
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

func bashCompletion(w io.Writer) {
	var names []string
	fmt.Fprint(w, `# bash completion for ctxls
_ctxls() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd=${COMP_WORDS[1]} words= flags= valued=
  COMPREPLY=()
  case $cmd in
`)
	for _, c := range commands() {
		names = append(names, c.name)
		var flags, valued []string
		for _, f := range flagsOf(c) {
			flags = append(flags, "--"+f.Name)
			if f.NoOptDefVal == "" {
				valued = append(valued, "--"+f.Name)
			}
		}
		fmt.Fprintf(w, "    %s) words=%q flags=%q valued=%q ;;\n", c.name, strings.Join(c.words, " "), strings.Join(flags, " "), strings.Join(valued, " "))
	}
	fmt.Fprintf(w, `  esac
  case " $valued " in *" $prev "*) return ;; esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=%q
  elif [[ $cur == -* ]]; then
    words=$flags
  elif [ "$COMP_CWORD" -ne 2 ]; then
    words=
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _ctxls ctxls
`, strings.Join(names, " "))
}

func zshCompletion(w io.Writer) {
	fmt.Fprint(w, "#compdef ctxls\n_ctxls() {\n  local -a commands=(\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "    %s\n", shellQuote(c.name+":"+c.short))
	}
	fmt.Fprint(w, "  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n  case $words[2] in\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "    %s) _arguments", c.name)
		for _, f := range flagsOf(c) {
			spec := "--" + f.Name + "[" + strings.NewReplacer("[", "(", "]", ")").Replace(f.Usage) + "]"
			if f.NoOptDefVal == "" {
				spec += ":" + f.Value.Type() + ":_default"
			}
			fmt.Fprintf(w, " \\\n      %s", shellQuote(spec))
		}
		if len(c.words) > 0 {
			fmt.Fprintf(w, " \\\n      %s", shellQuote("2:"+c.name+":("+strings.Join(c.words, " ")+")"))
		}
		fmt.Fprint(w, " \\\n      '*:file:_files' ;;\n")
	}
	fmt.Fprint(w, "  esac\n}\nif [ \"$funcstack[1]\" = _ctxls ]; then _ctxls; else compdef _ctxls ctxls; fi\n")
}

func fishCompletion(w io.Writer) {
	fmt.Fprintln(w, "# fish completion for ctxls")
	for _, c := range commands() {
		fmt.Fprintf(w, "complete -c ctxls -n __fish_use_subcommand -f -a %s -d %s\n", c.name, shellQuote(c.short))
		in := shellQuote("__fish_seen_subcommand_from " + c.name)
		if len(c.words) > 0 {
			fmt.Fprintf(w, "complete -c ctxls -n %s -f -a %s\n", in, shellQuote(strings.Join(c.words, " ")))
		}
		for _, f := range flagsOf(c) {
			value := ""
			if f.NoOptDefVal == "" {
				value = " -r"
			}
			fmt.Fprintf(w, "complete -c ctxls -n %s -l %s%s -d %s\n", in, f.Name, value, shellQuote(f.Usage))
		}
	}
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

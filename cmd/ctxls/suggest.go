package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host/registry"
)

// didYouMean returns the hint that names a candidate close to what the user typed, or otherwise.
func didYouMean(typed string, candidates []string, format, otherwise string) string {
	if near := text.NearestOrLonger(typed, candidates); near != "" {
		return fmt.Sprintf("did you mean "+format+"?", near)
	}
	return otherwise
}

// commandNames returns the names of all commands.
func commandNames() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// unknownCommand is the error for a command that there is not. rest is what follows it on the command line.
func unknownCommand(name string, rest []string) error {
	err := usageError{fmt.Sprintf("unknown command %q", text.Sanitize(name, 60))}
	if strings.HasPrefix(name, "-") {
		flag, _, _ := strings.Cut(name, "=")
		for i, arg := range rest {
			c, ok := findCommand(arg)
			if !ok || !slices.ContainsFunc(flagsOf(c), func(f *pflag.Flag) bool { return "--"+f.Name == flag || f.Shorthand != "" && "-"+f.Shorthand == flag }) {
				continue
			}
			line := slices.Concat([]string{"ctxls", arg, name}, rest[:i], rest[i+1:])
			return hintError{usageError{fmt.Sprintf("put %s after the command", text.Sanitize(flag, 60))}, fmt.Sprintf("type '%s'", text.Sanitize(strings.Join(line, " "), 200))}
		}
	}
	if name == "update" || name == "upgrade" {
		return hintError{err, "ctxls does not use the network; install the new version as you installed this one"}
	}
	if line := habits[strings.ToLower(strings.TrimLeft(name, "-"))]; line != "" {
		return hintError{err, fmt.Sprintf("did you mean 'ctxls %s'?", line)}
	}
	return hintError{err, didYouMean(name, commandNames(), "'ctxls %s'", "'ctxls help' lists the commands")}
}

// habits are what people type who know other programs, or a flag of sessions alone, and what they mean.
var habits = map[string]string{
	"ls": "sessions", "list": "sessions", "ps": "sessions", "show": "sessions", "status": "sessions", "json": "sessions --json", "all": "sessions --all",
	"watch": "sessions --watch", "w": "sessions --watch", "top": "sessions --watch", "live": "sessions --watch",
	"rm": "forget", "remove": "forget", "delete": "forget", "clear": "forget", "init": "setup", "count": "measure", "tokens": "measure",
	"check": "doctor", "health": "doctor", "stats": "report", "usage": "report", "cost": "report", "daily": "report", "weekly": "report", "monthly": "report",
	"blocks": "report", "context": "breakdown", "settings": "config path", "model": "windows", "models": "windows", "server": "serve", "lsp": "serve",
}

// flagHabits are flags of other programs. The hint is for commands that have the flag, or take the argument.
var flagHabits = map[string]struct{ flag, argument, hint string }{
	"format": {flag: "json", hint: "did you mean --json?"}, "j": {flag: "json", hint: "did you mean --json?"},
	"o": {flag: "output", hint: "did you mean --output?"}, "days": {flag: "since", hint: "did you mean --since 7d?"},
	"dry-run":       {flag: "yes", hint: "without --yes, this command changes nothing"},
	"session":       {argument: "SESSION", hint: "type the id of the session without a flag"},
	"scope":         {flag: "project", hint: "--project names the project's settings; without it, they are your own"},
	"global":        {flag: "project", hint: "without --project, the settings are your own, for every project"},
	"user":          {flag: "project", hint: "without --project, the settings are your own, for every project"},
	"host":          {argument: "HOST", hint: "type the name of the host without a flag"},
	"no-statusline": {flag: "statusline", hint: "without --statusline, the status line stays as it is"},
	"at":            {flag: "test", hint: "set alerts.at in your settings, or CTXLS_ALERTS_AT=85%"},
}

// flagHint returns the hint for a command line that pflag refuses.
func flagHint(err error, c command) string {
	otherwise := fmt.Sprintf("see 'ctxls help %s'", c.name)
	if hinted, ok := errors.AsType[hintError](err); ok {
		return hinted.hint
	}
	unknown, ok := err.(*pflag.NotExistError)
	if !ok {
		return otherwise
	}
	var names []string
	for _, f := range flagsOf(c) {
		names = append(names, f.Name)
	}
	habit := flagHabits[unknown.GetSpecifiedName()]
	switch {
	case slices.Contains(names, habit.flag), habit.argument != "" && strings.Contains(c.synopsis, habit.argument):
		return habit.hint
	case slices.Contains(names, unknown.GetSpecifiedShortnames()): // as Go's own flags
		return "did you mean --" + unknown.GetSpecifiedShortnames() + "?"
	case unknown.GetSpecifiedShortnames() != "":
		return otherwise
	}
	return didYouMean(unknown.GetSpecifiedName(), names, "--%s", otherwise)
}

// argumentHint returns the hint for arguments that a command refuses: one may be the name of a flag without its hyphens.
func argumentHint(fs *pflag.FlagSet, args []string, otherwise string) string {
	for _, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); fs.Lookup(name) != nil {
			return "did you mean --" + text.Sanitize(arg, 60) + "?"
		}
	}
	return otherwise
}

// dashes are what word processors and chats make of hyphens.
const dashes = "–—−"

// checkValues refuses a flag whose value is missing and would be the flag after it, as in --html --json, and one with pasted dashes.
func checkValues(fs *pflag.FlagSet, args []string) error {
	for i, arg := range args {
		if arg == "--" {
			return nil
		}
		bare := strings.TrimLeft(arg, dashes+"-")
		if name, _, _ := strings.Cut(bare, "="); strings.ContainsAny(arg[:len(arg)-len(bare)], dashes) && fs.Lookup(name) != nil {
			return hintError{usageError{fmt.Sprintf("%s begins with a dash that is no hyphen", text.Sanitize(arg, 60))}, "did you mean --" + text.Sanitize(bare, 60) + "?"}
		}
		name, ok := strings.CutPrefix(arg, "--")
		f := fs.Lookup(name)
		if !ok || f == nil || f.NoOptDefVal != "" {
			continue
		}
		if next := args[min(i+1, len(args)-1)]; i+1 < len(args) && strings.HasPrefix(next, "--") {
			return usageError{fmt.Sprintf("--%s: want a value, got %s", name, text.Sanitize(next, 60))}
		}
	}
	return nil
}

// hostNamed returns the host of a flag or an argument. what names it in the error; "" is no host.
func hostNamed(what, name string) (session.Host, error) {
	if _, ok := registry.Find(session.Host(name)); name == "" || ok {
		return session.Host(name), nil
	}
	names := registry.Names(registry.All)
	return "", unknownHost(fmt.Sprintf("%s: no host %q; use %s", what, text.Sanitize(name, 60), text.OneOf(names)), name, names)
}

// unknownHost adds the likely host to an error.
func unknownHost(message, name string, hosts []string) error {
	err := usageError{message}
	if hint := didYouMean(name, hosts, "%s", ""); hint != "" {
		return hintError{err, hint}
	}
	return err
}

// nearModel returns the model of the table that a name is a slip of, or a part of, as "sonnet"; "" is none.
func nearModel(name string) string {
	var names []string
	for _, row := range model.WindowTable() {
		if !strings.ContainsAny(row.Model, "*!") {
			names = append(names, row.Model)
		}
	}
	plain := model.Plain(name)
	if near := text.NearestOrLonger(plain, names); near != "" || len(plain) < 4 {
		return near
	}
	if family := text.Nearest(plain, families(names)); family != "" {
		plain = family
	}
	i := slices.IndexFunc(names, func(n string) bool { return strings.Contains(n, "-"+plain) })
	if i < 0 {
		return ""
	}
	return names[i]
}

// families returns the words in the names of models, such as "sonnet".
func families(names []string) (words []string) {
	for _, name := range names {
		for _, word := range strings.Split(name, "-")[1:] {
			if len(word) > 3 && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return words
}

// hostFlag is a flag that takes the name of a host.
type hostFlag session.Host

func (h *hostFlag) String() string { return string(*h) }
func (h *hostFlag) Type() string   { return "host" }

func (h *hostFlag) Set(s string) error {
	host, err := hostNamed("--host", s)
	*h = hostFlag(host)
	return err
}

// hostVar defines the flag --host. Its value is "" where the flag is not given.
func hostVar(fs *pflag.FlagSet, usage string) *session.Host {
	var host session.Host
	fs.Var((*hostFlag)(&host), "host", usage)
	return &host
}

// tokensFlag is a flag that takes a number of tokens as people write it: 200000 or 200k.
type tokensFlag int

func (t *tokensFlag) String() string { return fmt.Sprint(int(*t)) }
func (t *tokensFlag) Type() string   { return "tokens" }

func (t *tokensFlag) Set(s string) error {
	n, ok := text.ParseTokens(s)
	if !ok {
		return fmt.Errorf("no number of tokens: %s", s)
	}
	*t = tokensFlag(n)
	return nil
}

// tokensVar defines a flag for a number of tokens. Its value is 0 where the flag is not given.
func tokensVar(fs *pflag.FlagSet, name, usage string) *int {
	var n int
	fs.Var((*tokensFlag)(&n), name, usage)
	fs.Lookup(name).DefValue = ""
	return &n
}

package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/completion"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/ui"
)

// complete returns what may stand in the place of the last of the words that follow "ctxls" on a command line.
func (a *app) complete(ctx context.Context, words []string) string {
	if len(words) == 0 {
		words = []string{""}
	}
	a.stderr = io.Discard // a message would stand in the middle of what is typed
	given, cur := words[:len(words)-1], words[len(words)-1]
	global := pflag.NewFlagSet("", pflag.ContinueOnError)
	a.globalFlags(global)
	at := 0
	for at < len(given) && strings.HasPrefix(given[at], "--") {
		if f := global.Lookup(strings.TrimPrefix(given[at], "--")); f != nil {
			if at++; at == len(given) {
				return (&completion.Offer{Paths: "files"}).Print("", cur)
			}
			_ = f.Value.Set(given[at]) // such as the state whose sessions are offered
		}
		at++
	}
	var o completion.Offer
	if at >= len(given) {
		if strings.HasPrefix(cur, "-") {
			global.VisitAll(func(f *pflag.Flag) { o.Add("--"+f.Name, usageOf(f)) })
			o.Add("--help", "explain ctxls")
			o.Add("--version", "print the version")
		} else {
			for _, c := range commands() {
				o.Add(c.name, c.short)
			}
		}
		return o.Print("", cur)
	}
	c, ok := findCommand(given[at])
	if !ok {
		return o.Print("", cur)
	}
	return a.completeArguments(ctx, c, given[at+1:], cur)
}

// completeArguments returns what may stand at the cursor after a command and some of its arguments.
func (a *app) completeArguments(ctx context.Context, c command, given []string, cur string) string {
	fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	for _, f := range flagsOf(c) {
		fs.AddFlag(f)
	}
	var o completion.Offer
	var arguments []string // without flags and their values
	set := map[string]bool{}
	var open *pflag.Flag // the value at the cursor is this one's
	for _, word := range given {
		if open != nil {
			a.useGlobal(open, word)
			open = nil
			continue
		}
		name, _, whole := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		f := fs.Lookup(name)
		switch {
		case !strings.HasPrefix(word, "-") || word == "-":
			arguments = append(arguments, word)
		case f != nil:
			set[f.Name] = true
			if !whole && f.NoOptDefVal == "" {
				open = f
			}
		}
	}
	if open != nil {
		a.offerValue(&o, c, open)
		return o.Print("", cur)
	}
	if flag, value, ok := strings.Cut(cur, "="); ok && strings.HasPrefix(flag, "--") {
		if f := fs.Lookup(strings.TrimPrefix(flag, "--")); f != nil {
			a.offerValue(&o, c, f)
		}
		return o.Print(flag+"=", value)
	}
	if strings.HasPrefix(cur, "-") {
		for _, f := range flagsOf(c) {
			if !set[f.Name] {
				o.Add("--"+f.Name, usageOf(f))
			}
		}
		return o.Print("", cur)
	}
	if c.offers != nil {
		c.offers(ctx, a, &o, arguments)
	} else if len(arguments) == 0 {
		o.AddAll(c.words)
	}
	return o.Print("", cur)
}

// useGlobal sets a global flag that is on the command line.
func (a *app) useGlobal(f *pflag.Flag, value string) {
	switch f.Name {
	case "state":
		a.statePath = value
	case "config":
		a.configFile = value
	}
}

// usageOf returns the usage of a flag without the marks of its value's name.
func usageOf(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	return usage
}

// flagValues are the values of flags that take one of some words.
var flagValues = map[string][]string{
	"color": {"always", "never", "auto"}, "encoding": {"cl100k_base", "o200k_base"}, "framing": {"auto", "header", "line"},
	"format": {"text", "json", "sarif", "github"}, "strategy": {"oldest", "toolResults"}, "start-on": {"user"}, "since": {"1d", "7d", "30d"}, "before": {"30d", "90d"},
}

// offerValue offers values of a flag.
func (a *app) offerValue(o *completion.Offer, c command, f *pflag.Flag) {
	switch f.Name {
	case "host":
		o.AddAll(registry.Names(registry.All))
	case "model":
		offerModels(o)
	case "sort":
		o.AddAll(ui.SortNames())
	case "state", "config", "html":
		o.Paths = "files"
	case "output":
		o.Paths = "dirs"
	default:
		o.AddAll(flagValues[f.Name])
	}
}

// offerModels offers the models of the table.
func offerModels(o *completion.Offer) {
	seen := map[string]bool{}
	for _, row := range model.WindowTable() {
		if !strings.ContainsAny(row.Model, "*!") && !seen[row.Model] {
			seen[row.Model] = true
			o.Add(row.Model, ui.Tokens(row.WindowTokens))
		}
	}
}

// offerSessions offers the ids of sessions that were not typed yet, the last active first.
func (a *app) offerSessions(ctx context.Context, o *completion.Offer, typed []string) {
	if _, err := os.Stat(a.storePath(a.settings(""))); err != nil {
		return // opening it would make one
	}
	s, err := a.service(ctx)
	if err != nil {
		return
	}
	a.discover(s, true)
	views, err := s.Sessions(ctx, core.SessionFilter{IncludeEnded: true, Limit: 100})
	if err != nil {
		return
	}
	for _, v := range views {
		id := text.Sanitize(v.SessionID, 0)
		if id != v.SessionID || strings.ContainsAny(id, " \t'\"\\$`") || slices.Contains(typed, id) {
			continue // it would not be the same on the command line
		}
		o.Add(id, ui.SessionLabel(v))
	}
}

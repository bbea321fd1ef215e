package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/completion"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/ui"
)

var windowsCommand = command{
	name: "windows", synopsis: "[MODEL | forget MODEL…] [--learned] [--host HOST] [--provider NAME] [--json]", short: "show the window of a model, and its source",
	long: `
Without a model, lists all windows that are built in or learned. With a model, shows its window under a host, where that host
compacts, and the source of the figure. Any spelling of hosts, gateways and clouds works. Without --host, a model that Claude
Code does not know has the window of the table, and no point of compaction.

--learned lists what was learned from requests that a provider accepted or refused, when, and how long it holds (30 days). forget
removes what was learned of a model.`,
	examples: `ctxls windows
ctxls windows claude-opus-4-6
ctxls windows claude-opus-4.6 --host opencode --provider github-copilot
ctxls windows --learned
ctxls windows forget claude-opus-4-6
ctxls windows us.anthropic.claude-opus-4-8-v1:0 --json`,
	reads: true,
	offers: func(ctx context.Context, a *app, o *completion.Offer, given []string) {
		if len(given) == 0 {
			offerModels(o)
			o.Add("forget", "remove what was learned of a model")
		}
	},
	setup: func(fs *pflag.FlagSet) action {
		host := hostVar(fs, "the `host` that runs the model (default claude-code, for the models that it knows)")
		*host = session.HostClaudeCode
		provider := fs.String("provider", "", "the provider of the model")
		asJSON := fs.Bool("json", false, "print JSON")
		onlyLearned := fs.Bool("learned", false, "show what was learned alone")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 0 && args[0] == "forget" {
				return forgetWindows(ctx, a, args[1:])
			}
			switch {
			case len(args) > 1:
				err := usageError{"windows takes one model"}
				if near := nearModel(strings.Join(args, "-")); near != "" {
					return hintError{err, "did you mean " + near + "?"}
				}
				return err
			case len(args) == 1 && *onlyLearned:
				return usageError{"--learned shows every model; leave MODEL out"}
			case len(args) == 1 && strings.TrimSpace(args[0]) == "":
				return usageError{"windows takes a model, not an empty word"}
			}
			s, err := a.service(ctx)
			if err != nil {
				return err
			}
			learned, err := s.Store.Windows(ctx)
			if err != nil {
				return err
			}
			if *onlyLearned {
				if *asJSON {
					return printJSON(a.stdout, append([]session.LearnedWindow{}, learned...))
				}
				return ui.LearnedWindows(a.stdout, learned, s.Now())
			}
			if len(args) == 0 {
				if *asJSON {
					return printJSON(a.stdout, model.WindowTable())
				}
				return ui.Windows(a.stdout, model.WindowTable(), learned)
			}
			a.noteProvider(*provider)
			w, err := s.Window(ctx, *host, *provider, args[0])
			if err != nil {
				return err
			}
			if w.Guessed() && !fs.Changed("host") { // Claude Code does not know the models of others
				known, err := s.Window(ctx, session.HostGeneric, *provider, args[0])
				if err != nil {
					return err
				}
				if !known.Guessed() {
					w = known
					fmt.Fprintln(a.stderr, "ctxls: hint: --host says where a host compacts this model")
				}
			}
			if w.Guessed() {
				a.noteModel(args[0], "is not a known model: its window is a guess")
			}
			if name, rest, cut := strings.Cut(args[0], "["); cut && !strings.HasSuffix(rest, "]") {
				fail(a.stderr, hintError{fmt.Errorf("%s has no closing bracket", text.Sanitize(args[0], 60)), "did you mean " + text.Sanitize(name, 60) + "[1m]?"})
			}
			if *asJSON {
				return printJSON(a.stdout, w)
			}
			return ui.Window(a.stdout, args[0], w)
		}
	},
}

// noteModel says on standard error what is the matter with the name of a model, and which one was probably meant.
func (a *app) noteModel(name, what string) {
	fmt.Fprintf(a.stderr, "ctxls: %s %s\n", text.Sanitize(name, 60), what)
	if near := nearModel(name); near != "" && near != model.Plain(name) {
		fmt.Fprintf(a.stderr, "ctxls: hint: did you mean %s?\n", near)
	}
}

// noteProvider says on standard error which provider was probably meant. Any name may be one: hosts let users name their own.
func (a *app) noteProvider(name string) {
	known := []string{"anthropic", "openai", "google", "amazon-bedrock", "google-vertex", "azure", "github-copilot", "openrouter"}
	if near := text.Nearest(name, known); near != "" && near != name {
		fmt.Fprintf(a.stderr, "ctxls: hint: did you mean --provider %s?\n", near)
	}
}

// forgetWindows removes what was learned of models.
func forgetWindows(ctx context.Context, a *app, models []string) error {
	if len(models) == 0 {
		return usageError{"windows forget takes a model; 'ctxls windows --learned' shows which are known"}
	}

	a.reads = false // from a copy of the state nothing can be removed
	s, err := a.service(ctx)
	if err != nil {
		return err
	}
	for _, name := range models {
		if name == "" {
			return usageError{"windows forget takes a model, not an empty word"}
		}
		forgotten, err := s.ForgetWindows(ctx, name)
		if err != nil {
			return err
		}
		if len(forgotten) == 0 {
			return fmt.Errorf("nothing was learned of %s; 'ctxls windows --learned' shows what was", text.Sanitize(name, 60))
		}
		for _, l := range forgotten {
			fmt.Fprintf(a.stdout, "forgot %s in %s\n", text.Sanitize(l.Model, 60), l.Host)
		}
	}
	return nil
}

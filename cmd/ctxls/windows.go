package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/ui"
)

var windowsCommand = command{
	name: "windows", synopsis: "[MODEL] [--host HOST] [--provider NAME] [--json]", short: "show the window of a model, and its source",
	long: `
Without a model, lists all windows that are built in or learned. With a model, shows its window under a host, where that host
compacts, and the source of the figure. Any spelling of hosts, gateways and clouds works.`,
	examples: `ctxls windows
ctxls windows claude-opus-4-6
ctxls windows claude-opus-4.6 --host opencode --provider github-copilot
ctxls windows us.anthropic.claude-opus-4-8-v1:0 --json`,
	reads: true,
	setup: func(fs *pflag.FlagSet) action {
		host := fs.String("host", string(session.HostClaudeCode), "the `host` that runs the model")
		provider := fs.String("provider", "", "the provider of the model")
		asJSON := fs.Bool("json", false, "print JSON")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 1 {
				return usageError{"windows takes one model"}
			}
			s, err := a.service(ctx)
			if err != nil {
				return err
			}
			learned, err := s.Store.Windows(ctx)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				if *asJSON {
					return printJSON(a.stdout, model.WindowTable())
				}
				return ui.Windows(a.stdout, model.WindowTable(), learned)
			}
			w, err := s.Window(ctx, session.Host(*host), *provider, args[0])
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(a.stdout, w)
			}
			return ui.Window(a.stdout, args[0], w)
		}
	},
}

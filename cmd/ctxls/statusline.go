package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/ui"
)

var statuslineCommand = command{
	name: "statusline", short: "keep Claude Code's own figures and print one line for its status line",
	long: `
Claude Code runs its status line command after each response and gives it the figures that nobody else gets: the window,
the model as it is spelled, the tokens. ctxls keeps them for every other door and prints one line.`,
	examples: `ctxls statusline < payload.json
echo '{"statusLine": {"type": "command", "command": "ctxls statusline"}}'   # in ~/.claude/settings.json`,
	silent: true,
	setup: func(*pflag.FlagSet) action {
		return func(ctx context.Context, a *app, _ []string) error {
			a.quietly(ctx, func(ctx context.Context, s *core.Service, payload []byte) (string, error) {
				out, _, err := s.Hook(ctx, core.HostClaudeCode, "StatusLine", payload)
				if err != nil {
					return "", err
				}
				return ui.Statusline(out.Session, s.Config(out.Session.CWD).Statusline.Format) + "\n", nil
			})
			return nil
		}
	},
}

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/alert"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

var alertsCommand = command{
	name: "alerts", synopsis: "[--test]", short: "run a command or show a notification when a window fills up",
	long: `
Acts on the alerts of your settings until you interrupt it, and prints one line for each. You need it only where no editor and no
'ctxls sessions --watch' runs: those act on alerts, too. Of several processes, one acts on each alert.

"alerts" in your own settings says when and what; a project's settings cannot. The command gets JSON on stdin: "trigger", "text"
for people, and "session" as 'ctxls sessions --json' prints it. It runs in your home directory, for at most 30 seconds. An alert
comes once when a mark is passed, and again only after the window had room. --test acts on the newest session at once.

  "alerts": {"at": ["85%", "300k", "20k left", "critical", "compaction", "fleet"], "command": "say-it.sh", "notify": true}`,
	examples: "ctxls alerts\nctxls alerts --test\nCTXLS_ALERTS_AT='85%,compaction' CTXLS_ALERTS_NOTIFY=1 ctxls alerts",
	setup: func(fs *pflag.FlagSet) action {
		test := fs.Bool("test", false, "act on the newest session at once, and say what went wrong")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 0 {
				return usageError{"alerts takes no arguments"}
			}
			cfg := a.settings("").Alerts
			hint := "'ctxls help alerts' has an example for " + a.userConfig()
			switch {
			case (len(cfg.At) == 0 && !*test || cfg.Command == "" && !cfg.Notify) && a.ignored:
				return errors.New("no alert is set while settings are ignored")
			case len(cfg.At) == 0 && !*test:
				return hintError{errors.New("alerts.at is not set, so that there is no alert"), hint}
			case cfg.Command == "" && !cfg.Notify:
				return hintError{errors.New("neither alerts.command nor alerts.notify is set, so that an alert does nothing"), hint}
			}
			s, err := a.service(ctx)
			if err != nil {
				return err
			}
			a.discover(s, false)
			options := a.alerts(s)
			act := options.Act
			options.Act = func(ctx context.Context, al alert.Alert) error {
				fmt.Fprintf(a.stdout, "%s: %s\n", text.Sanitize(al.Trigger, 0), al.Text)
				return act(ctx, al)
			}
			if *test {
				return testAlert(ctx, s, options)
			}
			alert.Run(ctx, options)
			return nil
		}
	},
}

// alerts returns what alerts need. The settings are the user's: a workspace cannot set alerts.
func (a *app) alerts(s *core.Service) alert.Options {
	config := func() settings.AlertsConfig {
		cfg, _ := a.loader.For(a.cwd) // problems were said at the start
		return cfg.Alerts
	}
	return alert.Options{Source: s, Claims: s.Store, Config: config, Act: alert.NewActor(config, a.home).Act, Log: a.log}
}

// testAlert acts on the newest session as if it had passed a mark.
func testAlert(ctx context.Context, s *core.Service, o alert.Options) error {
	sessions, err := s.Sessions(ctx, core.SessionFilter{IncludeEnded: true, Limit: 1})
	if err != nil {
		return err
	}
	if len(sessions) == 0 {
		return noSessions
	}
	return o.Act(ctx, alert.Of("test", sessions[0]))
}

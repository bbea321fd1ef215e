package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/completion"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/ui"
)

var importCommand = command{
	name: "import", synopsis: "[HOST…] [--since AGE] [--json]", short: "fill the report with the turns of earlier sessions",
	long: `
Reads the sessions that agent hosts keep on this machine, and records the size of each turn, so that 'ctxls report' has figures
from the first day. It changes nothing of the hosts' files and stores no text. A second import replaces the first. Turns that
hooks recorded stay, and are not counted twice. 'ctxls forget --imported' removes what was imported.`,
	examples: "ctxls import\nctxls import claude-code --since 90d\nctxls import --json | jq .turns",
	offers: func(_ context.Context, _ *app, o *completion.Offer, _ []string) {
		o.AddAll(registry.Names(registry.Recording()))
	},
	setup: func(fs *pflag.FlagSet) action {
		since := fs.String("since", "", "only sessions that changed within an `age` such as 90d, 12h or 30m")
		asJSON := fs.Bool("json", false, "print JSON")
		return func(ctx context.Context, a *app, args []string) error {
			var hosts []session.Host
			for _, name := range args {
				host, err := hostNamed("import", name)
				if err != nil {
					return err
				}
				if h, _ := registry.Find(host); h.Records == nil {
					return usageError{fmt.Sprintf("import: ctxls reads no records of %s", text.Sanitize(name, 60))}
				}
				hosts = append(hosts, host)
			}
			var from time.Time
			if *since != "" {
				age, err := parseAge(*since)
				if err != nil {
					return usageError{"--since: " + err.Error()}
				}
				from = time.Now().Add(-age)
			}
			s, err := a.service(ctx)
			if err != nil {
				return err
			}
			p := a.startProgress()
			result, err := a.discover(s, false).Import(ctx, hosts, from, s.Config("").Metrics.WindowTasks, p.at)
			p.stop()
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(a.stdout, result)
			}
			fmt.Fprintf(a.stdout, "%s of %s read, %s imported\n", ui.Count(result.Turns, "turn"), ui.Count(result.Sessions, "session"), ui.Count(result.Tasks, "task"))
			if result.Failed > 0 {
				fmt.Fprintf(a.stdout, "%s could not be read\n", ui.Count(result.Failed, "session"))
			}
			return nil
		}
	},
}

// parseAge reads an age such as 90d, 2w, 12h or 30m.
func parseAge(s string) (time.Duration, error) {
	var n int
	var unit string
	if _, err := fmt.Sscanf(s, "%d%s", &n, &unit); err == nil && n > 0 && n < 100_000 {
		for name, d := range map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
			if unit == name {
				return time.Duration(n) * d, nil
			}
		}
	}
	return 0, fmt.Errorf("want a number and m, h, d or w, such as 7d, got %q", text.Sanitize(s, 40))
}

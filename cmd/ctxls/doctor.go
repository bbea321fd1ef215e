package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/completion"

	"github.com/ctxls/ctxls/internal/check"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/doctor"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/ui"
)

var doctorCommand = command{
	name: "doctor", synopsis: "[HOST…] [--json] [--color WHEN] [--width N]", short: "check the installation and say how to fix problems",
	long: `
Checks the program, the settings, the state and its log, the hooks in each agent host, the events that arrived, the transcripts
and the windows. It changes nothing, and does not repair or move damaged files. If you name hosts, it checks only those. Each
line says ok, warn (it works, but maybe not as you expect), fail, or skip (nothing to check). The line below says what to do.
The exit status is 1 if a check failed.

--json prints an object: the "version" of ctxls, the numbers "failed" and "warned", and "checks", each with "group", "name",
"status" (ok, warn, fail, skip), "what" was found and the "hint" what to do ("" if there is nothing to do).`,
	examples: "ctxls doctor\nctxls doctor claude-code\nctxls doctor --json | jq -r '.checks[] | select(.status != \"ok\") | [.group, .name, .what, .hint] | @tsv'",
	offers: func(_ context.Context, _ *app, o *completion.Offer, _ []string) {
		o.AddAll(registry.Names(registry.All))
	},
	setup: func(fs *pflag.FlagSet) action {
		asJSON := fs.Bool("json", false, "print JSON")
		var styled styleFlags
		styled.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			var hosts []session.Host
			for _, name := range args {
				if _, ok := registry.Find(session.Host(name)); !ok {
					_, err := hostNamed("doctor", name)
					return err
				}
				hosts = append(hosts, session.Host(name))
			}
			style, err := styled.style(a)
			if err != nil {
				return err
			}
			return a.diagnose(ctx, hosts, *asJSON, style)
		}
	},
}

// diagnose runs the checks of hosts, of all where none is named, and prints them.
func (a *app) diagnose(ctx context.Context, hosts []session.Host, asJSON bool, style ui.Style) error {
	checks := doctor.Run(ctx, doctor.Options{
		Env: a.env(), Sources: a.sources(a.cwd), StatePath: a.storePath, Usual: a.usualState, LogPath: a.logPath, Hosts: hosts, Version: versionString(), Now: time.Now(),
	})
	counts := map[check.Status]int{}
	for _, c := range checks {
		counts[c.Status]++
	}
	var err error
	if asJSON {
		err = printJSON(a.stdout, diagnosis{versionString(), counts[check.Fail], counts[check.Warn], checks})
	} else {
		err = ui.Checks(a.stdout, checks, style)
	}
	if failed := counts[check.Fail]; err == nil && failed > 0 {
		return fmt.Errorf("%s failed", ui.Count(failed, "check"))
	}
	return err
}

// diagnosis is what doctor prints as JSON.
type diagnosis struct {
	Version string        `json:"version"`
	Failed  int           `json:"failed"`
	Warned  int           `json:"warned"`
	Checks  []check.Check `json:"checks"`
}

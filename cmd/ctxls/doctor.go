package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/check"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/doctor"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/ui"
)

var doctorCommand = command{
	name: "doctor", synopsis: "[HOST…] [--json] [--color WHEN] [--width N]", short: "check that everything is in place, and say what to do where it is not",
	long: `
Looks at the program, the settings, the state with its log, what was put into each agent host, what has arrived from there, the
transcripts and the windows, and changes nothing: it does not even mend or move what is damaged. Hosts that are named are the
only ones it looks at. A line says ok, warn (it works, but maybe not as you think), fail, or skip (nothing to look at), and below
it stands what to do. The exit status is 1 where something failed.

--json prints an object: "version" of ctxls, the numbers "failed" and "warned", and "checks", each with "group", "name",
"status" (ok, warn, fail, skip), "what" was found and the "hint" what to do, "" where there is nothing to.`,
	examples: "ctxls doctor\nctxls doctor claude-code\nctxls doctor --json | jq -r '.checks[] | select(.status != \"ok\") | [.group, .name, .what, .hint] | @tsv'",
	words:    registry.Names(registry.All),
	setup: func(fs *pflag.FlagSet) action {
		asJSON := fs.Bool("json", false, "print JSON")
		var drawn lookFlags
		drawn.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			var hosts []session.Host
			for _, name := range args {
				if _, ok := registry.Find(session.Host(name)); !ok {
					return usageError{fmt.Sprintf("doctor: no host %q; it takes some of: %s", text.Sanitize(name, 60), strings.Join(registry.Names(registry.All), ", "))}
				}
				hosts = append(hosts, session.Host(name))
			}
			look, err := drawn.look(a)
			if err != nil {
				return err
			}
			checks := doctor.Run(ctx, doctor.Options{
				Env: a.env(), Sources: a.sources(a.cwd), StatePath: a.storePath, Usual: a.usualState, LogPath: a.logPath, Hosts: hosts, Version: versionString(), Now: time.Now(),
			})
			counts := map[check.Status]int{}
			for _, c := range checks {
				counts[c.Status]++
			}
			if *asJSON {
				err = printJSON(a.stdout, diagnosis{versionString(), counts[check.Fail], counts[check.Warn], checks})
			} else {
				err = ui.Checks(a.stdout, checks, look)
			}
			if failed := counts[check.Fail]; err == nil && failed > 0 {
				return fmt.Errorf("%s failed", ui.Count(failed, "check"))
			}
			return err
		}
	},
}

// diagnosis is what doctor prints as JSON.
type diagnosis struct {
	Version string        `json:"version"`
	Failed  int           `json:"failed"`
	Warned  int           `json:"warned"`
	Checks  []check.Check `json:"checks"`
}

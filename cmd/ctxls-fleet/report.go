package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/team/postgres"
	"github.com/ctxls/ctxls/internal/ui"
)

// maxPage is how many sessions a page shows: those that were updated last.
const maxPage = 200

var reportCommand = command{
	name: "report", synopsis: "--from URL [--since 7d] [--by team|model|host|project] [--html FILE | --json]", short: "print the figures over the tasks of all machines",
	long: `
A task is one turn of an agent, or what a program recorded as one. The figures are over all tasks of the time that --since names; an
alert stands below them where more tasks exceed the threshold than the settings metrics.thresholdTokens and metrics.alertRate allow.`,
	examples: `ctxls-fleet report --from postgres://rita@db.example.com/team
ctxls-fleet report --since 4w --by model
ctxls-fleet report --html report.html`,
	setup: func(_ *app, fs *pflag.FlagSet) action {
		from := fs.String("from", "", "`URL` of the database; without it $CTXLS_FLEET_DB, or libpq's environment")
		since := fs.String("since", "7d", "how far to look back: hours, days or weeks, as 36h, 7d, 4w")
		by := fs.String("by", "", "the same figures by team, model, host or project")
		asJSON := fs.Bool("json", false, "print JSON")
		html := fs.String("html", "", "write a page to a `file`; - is standard output")
		var styled styleFlags
		styled.add(fs)
		return func(ctx context.Context, a *app) error {
			age, err := parseAge("since", *since)
			if err != nil {
				return err
			}
			if *by != "" && !slices.Contains(postgres.Groupings, *by) {
				return usageError{fmt.Sprintf("--by: want one of team, model, host, project, got %q", *by)}
			}
			if *asJSON && *html != "" {
				return usageError{"--html and --json exclude each other"}
			}
			style, err := styled.style(a)
			if err != nil {
				return err
			}
			db, err := a.database("from", *from)
			if err != nil {
				return err
			}
			start := time.Now().Add(-age)
			r, err := db.Report(ctx, start, *by, a.settings("").Metrics)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printJSON(a.stdout, r)
			case *html != "":
				return a.writePage(ctx, db, r, start, *html)
			}
			return a.printReport(r, style)
		}
	},
}

// printReport shows a report to people.
func (a *app) printReport(r postgres.Report, style ui.Style) error {
	if err := ui.Report(a.stdout, r.FleetReport, time.Now(), style); err != nil {
		return err
	}
	if len(r.Groups) > 0 {
		groups := make([]ui.TaskGroup, len(r.Groups))
		for i, g := range r.Groups {
			groups[i] = ui.TaskGroup(g)
		}
		fmt.Fprintln(a.stdout)
		if err := ui.TaskGroups(a.stdout, r.By, groups, r.ThresholdTokens, style); err != nil {
			return err
		}
	}
	if r.Alert == nil {
		return nil
	}
	fmt.Fprintln(a.stdout)
	return ui.AlertLine(a.stdout, *r.Alert, style)
}

// writePage writes the report as a page, with the sessions that were updated last.
func (a *app) writePage(ctx context.Context, db *postgres.DB, r postgres.Report, since time.Time, file string) error {
	found, err := db.Sessions(ctx, postgres.SessionFilter{SessionFilter: core.SessionFilter{IncludeEnded: true, Limit: maxPage}, Since: since})
	if err != nil {
		return err
	}
	var sessions []ui.PageSession
	for _, s := range found {
		samples, err := db.Samples(ctx, s.SessionID, historyOf)
		if err != nil {
			return err
		}
		sessions = append(sessions, ui.PageSession{SessionDetail: core.SessionDetail{SessionView: s.SessionView, Breakdown: noBreakdown()}, Samples: samples})
	}
	var page bytes.Buffer
	if err := ui.Page(&page, r.FleetReport, sessions, time.Now()); err != nil {
		return err
	}
	if file == "-" {
		_, err := a.stdout.Write(page.Bytes())
		return err
	}
	if err := os.WriteFile(file, page.Bytes(), 0o600); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	fmt.Fprintf(a.stderr, "ctxls-fleet: wrote %s\n", text.Sanitize(file, 0))
	return nil
}

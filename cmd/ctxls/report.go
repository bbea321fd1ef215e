package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/audit"
	"github.com/ctxls/ctxls/internal/contextfiles"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/survival"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/ui"
)

// noTasks is the error if there are no figures.
var noTasks = hintError{errors.New("no finished turns yet"), "a task is recorded when a turn ends; 'ctxls import' reads those of earlier sessions"}

var reportCommand = command{
	name: "report", synopsis: "[--html [FILE] | --csv | --json] [--color WHEN] [--width N]", short: "print figures over the last tasks of all sessions",
	long: `
A task is one turn of an agent, or a task that a program recorded. ABOVE: share of tasks larger than this row.

--html writes a page with plots of the task sizes, the history of each session and what fills its window. The page is one
file and works offline; - is standard output. --csv prints a line for each task, the oldest first. --json prints the result
of metrics/report with sessions, compactions, the histogram and the tokens of each task.`,
	examples: "ctxls report\nctxls report --html\nctxls report --html weekly.html\nctxls report --csv > tasks.csv\nctxls report --json | jq .p90Tokens",
	reads:    true,
	setup: func(fs *pflag.FlagSet) action {
		asJSON := fs.Bool("json", false, "print JSON")
		asCSV := fs.Bool("csv", false, "print comma-separated values")
		html := fs.String("html", "", "write a page to a `file`, report.html unless one is named")
		fs.Lookup("html").NoOptDefVal = "report.html"
		var styled styleFlags
		styled.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) == 1 && *html == fs.Lookup("html").NoOptDefVal { // as in --html FILE
				*html, args = args[0], nil
			}
			if len(args) > 0 {
				return usageError{"report takes no arguments"}
			}
			if *asJSON && *asCSV || (*asJSON || *asCSV) && *html != "" {
				return usageError{"--html, --csv and --json exclude each other"}
			}
			style, err := styled.style(a)
			if err != nil {
				return err
			}
			s, err := a.service(ctx)
			if err != nil {
				return err
			}
			if a.copied { // an import would be lost with the copy, so that this is its only chance
				p := a.startProgress()
				_, err := a.discover(s, false).Import(ctx, nil, time.Time{}, s.Config("").Metrics.WindowTasks, p.at)
				p.stop()
				if err != nil {
					return err
				}
			}
			report, err := s.FleetReport(ctx)
			if err != nil {
				return err
			}
			switch {
			case *asJSON:
				return printJSON(a.stdout, report)
			case *asCSV:
				return ui.ReportCSV(a.stdout, report)
			case *html != "":
				a.discover(s, false)
				return a.writePage(ctx, s, report, *html)
			case report.Tasks == 0:
				fail(a.stderr, noTasks)
			}
			return ui.Report(a.stdout, report, time.Now(), style)
		}
	},
}

// writePage writes the report and all sessions as a page.
func (a *app) writePage(ctx context.Context, s *core.Service, report core.FleetReport, file string) error {
	views, err := s.Sessions(ctx, core.SessionFilter{IncludeEnded: true, Limit: pageLimit})
	if err != nil {
		return err
	}
	p := a.startProgress()
	sessions, err := a.pageSessions(ctx, s, views, p)
	p.stop()
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := ui.Page(&page, report, sessions, time.Now()); err != nil {
		return err
	}
	if file == "-" {
		_, err := a.stdout.Write(page.Bytes())
		return err
	}
	if err := writeWhole(file, page.Bytes()); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	fmt.Fprintf(a.stderr, "ctxls: wrote %s\n", text.Sanitize(file, 0))
	return nil
}

// pageLimit is how many sessions a page shows, the newest. Each is read whole.
const pageLimit = 100

// maxPageAudits is how many directories a page tells the context files of, those of the newest sessions.
const maxPageAudits = 20

// pageSessions reads all that a page shows of sessions. It skips a session that was deleted meanwhile.
func (a *app) pageSessions(ctx context.Context, s *core.Service, views []core.SessionView, p *progress) ([]ui.PageSession, error) {
	var sessions []ui.PageSession
	audits, counts := map[session.Key]*audit.AuditReport{}, audit.NewCounts()
	before := int64(0) // bytes of the sessions done so far
	for _, v := range views {
		key, read := session.Key{Host: v.Host, SessionID: v.SessionID}, int64(0)
		shown, err := pageSession(ctx, s, key, func(done, total int64) {
			read = done
			p.at(before+done, before+total)
		})
		before += read
		if coded.CodeOf(err) == coded.NotFound {
			continue
		} else if err != nil {
			return nil, err
		}
		place := session.Key{Host: v.Host, SessionID: v.CWD}
		if _, done := audits[place]; !done && len(audits) < maxPageAudits && slices.Contains(contextfiles.Hosts, v.Host) && filepath.IsAbs(v.CWD) && dirExists(v.CWD) {
			o := a.auditOptions(v.CWD)
			o.Hosts, o.Counts = []session.Host{v.Host}, counts
			if audits[place], err = audit.Run(o); err != nil {
				return nil, err
			}
		}
		shown.Audit = audits[place]
		sessions = append(sessions, shown)
	}
	return sessions, nil
}

// pageSession reads what fills the window of one session, what could go of it, its history and its compactions.
func pageSession(ctx context.Context, s *core.Service, key session.Key, progress func(done, total int64)) (shown ui.PageSession, err error) {
	if shown.SessionDetail, shown.Plan, err = s.SessionBreakdownAndPlan(ctx, key, progress); err != nil {
		return shown, err
	}
	if shown.Samples, err = s.Samples(ctx, key, 0); err != nil {
		return shown, err
	}
	shown.Compactions = []survival.Entry{}
	if shown.SessionView.Compactions > 0 {
		shown.Compactions, err = s.Compactions(ctx, key)
		if coded.CodeOf(err) == coded.Invalid { // no record tells of them
			return shown, nil
		}
	}
	return shown, err
}

// writeWhole replaces a file in one step, so that readers never see half of it. Only the user can read it.
func writeWhole(file string, data []byte) error {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return writeInto(file, data)
	}
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: "write", Path: file, Err: path.Err} // not the temporary name
	} else if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// writeInto writes to a device, or to a pipe that a process reads. Without O_NONBLOCK, opening a pipe would wait for a reader.
func writeInto(file string, data []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		return &fs.PathError{Op: "write", Path: file, Err: errors.New("no process reads this pipe")}
	} else if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

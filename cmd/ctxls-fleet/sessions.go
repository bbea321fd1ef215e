package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/team/postgres"
	"github.com/ctxls/ctxls/internal/ui"
)

var sessionsCommand = command{
	name: "sessions", synopsis: "--from URL [--all] [--team NAME] [--watch | --json]", short: "list the sessions of all machines and how full they are",
	long: `
The figures are those of 'ctxls sessions' on each machine. A session's id is a hash that its machine made; PROJECT is what the machine
sends of it.`,
	examples: `ctxls-fleet sessions --from postgres://rita@db.example.com/team
ctxls-fleet sessions --watch --team search
ctxls-fleet sessions --json | jq -r '.[] | select(.usage.percent > 85) | .machine'`,
	setup: func(_ *app, fs *pflag.FlagSet) action {
		from := fs.String("from", "", "`URL` of the database; without it $CTXLS_FLEET_DB, or libpq's environment")
		all := fs.BoolP("all", "a", false, "sessions that have ended too")
		team := fs.String("team", "", "only sessions of this team")
		watch := fs.BoolP("watch", "w", false, "a live screen")
		asJSON := fs.Bool("json", false, "print JSON")
		var styled styleFlags
		styled.add(fs)
		return func(ctx context.Context, a *app) error {
			if *watch && *asJSON {
				return usageError{"--watch and --json exclude each other"}
			}
			style, err := styled.style(a)
			if err != nil {
				return err
			}
			db, err := a.database("from", *from)
			if err != nil {
				return err
			}
			if *watch {
				return ui.Live(ctx, ui.LiveOptions{Source: &source{db: db, team: *team}, Filter: core.SessionFilter{IncludeEnded: *all}, In: a.stdin, Out: a.stdout,
					Environ: os.Environ(), Color: style.Color})
			}
			found, err := db.Sessions(ctx, postgres.SessionFilter{SessionFilter: core.SessionFilter{IncludeEnded: *all}, Team: *team})
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(a.stdout, found)
			}
			if len(found) == 0 {
				a.fail(coded.Errorf(coded.NotFound, "no sessions yet"), "a session appears when its machine runs 'ctxls-fleet push'")
				return nil
			}
			return ui.Sessions(a.stdout, views(found), time.Now(), style)
		}
	},
}

// views returns sessions as screens show them.
func views(found []postgres.Session) []core.SessionView {
	shown := make([]core.SessionView, len(found))
	for i, s := range found {
		shown[i] = s.SessionView
	}
	return shown
}

// source is a team's database as a live screen reads it.
type source struct {
	db   *postgres.DB
	team string
}

const (
	// maxLive bounds the sessions on a live screen. More cannot be looked through.
	maxLive = 2000
	// pollInterval is how often a live screen asks whether a machine has pushed.
	pollInterval = time.Second
	// historyOf is how many samples of one session are read: as many as a machine keeps.
	historyOf = 2000
)

// Sessions implements ui.LiveSource.
func (s *source) Sessions(ctx context.Context, f core.SessionFilter) ([]core.SessionView, error) {
	if f.Limit == 0 {
		f.Limit = maxLive
	}
	found, err := s.db.Sessions(ctx, postgres.SessionFilter{SessionFilter: f, Team: s.team})
	return views(found), err
}

// SessionBreakdown implements ui.LiveSource. What fills a window is known on its own machine only.
func (s *source) SessionBreakdown(ctx context.Context, key session.Key, _ func(done, total int64)) (core.SessionDetail, error) {
	found, err := s.db.Session(ctx, key.SessionID)
	return core.SessionDetail{SessionView: found.SessionView, Breakdown: noBreakdown()}, err
}

// noBreakdown says why it is not known what fills a session's window.
func noBreakdown() *session.Breakdown {
	return &session.Breakdown{Why: "its machine sends figures only; 'ctxls breakdown' there says it", Parts: []session.Part{}, Files: []session.FilePart{}}
}

// Samples implements ui.LiveSource.
func (s *source) Samples(ctx context.Context, key session.Key, _ int) ([]session.Sample, error) {
	return s.db.Samples(ctx, key.SessionID, historyOf)
}

// Watch implements ui.LiveSource.
func (s *source) Watch(ctx context.Context) <-chan struct{} {
	wake := make(chan struct{}, 1)
	go func() {
		var seen time.Time
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pollInterval):
			}
			if at, err := s.db.Pushed(ctx); err == nil && at.Equal(seen) {
				continue
			} else if err == nil {
				seen = at
			}
			select { // after an error, too: reading the sessions will say it
			case wake <- struct{}{}:
			default:
			}
		}
	}()
	return wake
}

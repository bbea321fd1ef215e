package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/team/postgres"
	"github.com/ctxls/ctxls/internal/team/push"
)

var pushCommand = command{
	name: "push", synopsis: "--to URL | --otlp URL [--watch] [--team NAME] [--projects name|hash|none]", short: "send what has changed on this machine to a team's database or collector",
	long: `
Without --watch it sends what is missing and ends: for cron, for CI jobs, for containers that end. With it, it goes on; what cannot be
sent while the database is away is sent when it is back. Nothing is sent twice, even if either side dies in between.

It sends figures and names of hosts and models. Of a project it sends a hash, by default: --projects name sends the name of its
directory, none sends nothing.

--otlp sends gauges of the fullest active sessions, and counts tasks and compactions. A collector is told at the interval of
$OTEL_METRIC_EXPORT_INTERVAL; the other variables of the OpenTelemetry SDK count as well.

--new-id makes another machine of this one, after it was copied from one that pushes. --take-over goes on under the id after the
database or this machine was restored from a backup.`,
	examples: `ctxls-fleet push --to postgres://alice@db.example.com/team
ctxls-fleet push --to postgres://alice@db.example.com/team?sslmode=verify-full --watch --team search
PGHOST=db.example.com PGDATABASE=team ctxls-fleet push
ctxls-fleet push --otlp http://127.0.0.1:4318 --watch`,
	setup: func(a *app, fs *pflag.FlagSet) action {
		to := fs.String("to", "", "`URL` of the database; without it $CTXLS_FLEET_DB, or libpq's environment")
		otlp := fs.String("otlp", "", "`URL` of an OpenTelemetry collector to send to, by HTTP, instead of a database")
		watch := fs.BoolP("watch", "w", false, "run until it is interrupted")
		team := fs.String("team", a.getenv("CTXLS_FLEET_TEAM"), "`name` of the team that this machine belongs to")
		projects := fs.String("projects", string(push.ProjectHash), "what to send of a project: name, hash or none")
		every := fs.Duration("every", time.Second, "with --watch, how long to gather changes before they are sent")
		newID := fs.Bool("new-id", false, "push as another machine from now on")
		takeOver := fs.Bool("take-over", false, "push although the database knows of a later push")
		return func(ctx context.Context, a *app) error {
			switch push.Projects(*projects) {
			case push.ProjectName, push.ProjectHash, push.ProjectNone:
			default:
				return usageError{fmt.Sprintf("--projects: want name, hash or none, got %q", *projects)}
			}
			if *every < 10*time.Millisecond {
				return usageError{fmt.Sprintf("--every: want at least 10ms, got %v", *every)}
			}
			if *otlp != "" && *to == "" && a.getenv("CTXLS_FLEET_DB") == "" {
				return a.pushOTLP(ctx, *otlp, *team, *watch)
			}
			if *otlp != "" {
				return usageError{"--to and --otlp exclude each other; run one ctxls-fleet for each"}
			}
			return a.pushTo(ctx, *to, pushOptions{watch: *watch, every: *every, newID: *newID, takeOver: *takeOver,
				redact: push.Redaction{Team: *team, Projects: push.Projects(*projects)}})
		}
	},
}

// pushOptions say how to push to a database.
type pushOptions struct {
	watch           bool
	every           time.Duration
	newID, takeOver bool
	redact          push.Redaction // without Salt
}

// pushTo sends this machine's figures to a database.
func (a *app) pushTo(ctx context.Context, url string, o pushOptions) error {
	db, err := a.database("to", url)
	if err != nil {
		return err
	}
	local, err := a.state(ctx)
	if err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(local.dir, "fleet.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	id, err := push.OpenIdentity(local.dir, o.newID)
	if err != nil {
		return err
	}
	target := db.Target()
	o.redact.Salt = id.Salt
	p := &push.Pusher{
		Source: local, Sink: db, Machine: id.Machine,
		Claim:   func() ([]string, string, error) { return id.Next(target) },
		Claimed: func(claim string) error { return id.Granted(target, claim) },
		Redact:  o.redact, Version: versionString(), Schema: postgres.Schema, TakeOver: o.takeOver, Now: time.Now,
	}
	if o.watch {
		return p.Watch(ctx, o.every, db.Close, a.log)
	}
	for {
		if some, err := p.Push(ctx); err != nil || !some {
			return err
		}
	}
}

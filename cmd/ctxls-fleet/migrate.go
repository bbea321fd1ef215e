package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"
)

var migrateCommand = command{
	name: "migrate", synopsis: "--to URL", short: "make the tables in a database, or bring them up to date",
	long: `
It needs the owner of the database, with the right to create roles. It makes the roles ctxls_pusher and ctxls_reader: grant the first to
logins that push, the second to those that read.`,
	examples: "ctxls-fleet migrate --to postgres://postgres@db.example.com/team",
	setup: func(_ *app, fs *pflag.FlagSet) action {
		to := fs.String("to", "", "`URL` of the database; without it $CTXLS_FLEET_DB, or libpq's environment")
		return func(ctx context.Context, a *app) error {
			db, err := a.database("to", *to)
			if err != nil {
				return err
			}
			before, after, err := db.Migrate(ctx)
			if err != nil {
				return err
			}
			if before == after {
				fmt.Fprintf(a.stdout, "%s has schema %d already\n", db.Target(), after)
			} else {
				fmt.Fprintf(a.stdout, "%s went from schema %d to %d\n", db.Target(), before, after)
			}
			return nil
		}
	},
}

var pruneCommand = command{
	name: "prune", synopsis: "--from URL --keep 90d", short: "drop what is older from a database",
	long: `
Samples and tasks are dropped by the day, compactions and sessions that have ended or fallen silent with them. Machines do not send again
what was dropped. It needs the owner of the database.`,
	examples: "ctxls-fleet prune --from postgres://postgres@db.example.com/team --keep 90d",
	setup: func(_ *app, fs *pflag.FlagSet) action {
		from := fs.String("from", "", "`URL` of the database; without it $CTXLS_FLEET_DB, or libpq's environment")
		keep := fs.String("keep", "", "how long to keep: a number of days, weeks or hours, as 90d, 12w, 36h")
		return func(ctx context.Context, a *app) error {
			age, err := parseAge("keep", *keep)
			if err != nil {
				return err
			}
			db, err := a.database("from", *from)
			if err != nil {
				return err
			}
			dropped, err := db.Prune(ctx, time.Now().Add(-age))
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "dropped %d days\n", dropped)
			return nil
		}
	},
}

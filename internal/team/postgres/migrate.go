package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ctxls/ctxls/internal/core/coded"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the number of the newest migration: the schema that this program knows.
var Schema = len(names())

// names returns the files of the migrations, in order.
func names() []string {
	found, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is right
	}
	return found
}

// lockMigrations is the advisory lock that one migration at a time holds: "ctxl" as a number.
const lockMigrations = 0x6374786c

// Migrate brings the database to the schema that this program knows, and returns the numbers before and after. Each migration is a
// transaction of its own. Any number of programs may call it at once.
func (db *DB) Migrate(ctx context.Context) (before, after int, err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	conn, err := db.connect(ctx)
	if err != nil {
		return 0, 0, err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", lockMigrations); err != nil {
		return 0, 0, db.explain(err)
	}
	defer conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", lockMigrations) //nolint:errcheck // it ends with the connection
	if before, err = schemaOf(ctx, conn); err != nil {
		return 0, 0, db.explain(err)
	}
	if before > Schema {
		return before, before, errNewer(before)
	}
	for i, name := range names()[before:] {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return before, before + i, err
		}
		if err := migrate(ctx, conn, before+i+1, string(text)); err != nil {
			return before, before + i, fmt.Errorf("%s: %w", name, db.explain(err))
		}
	}
	return before, Schema, nil
}

// migrate runs one migration.
func migrate(ctx context.Context, conn *pgx.Conn, number int, text string) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, fmt.Sprintf("CREATE OR REPLACE FUNCTION ctxls.schema_version() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT %d'", number))
		return err
	})
}

// schemaOf returns the number of the last migration that the database has; 0 is none. Every role may ask.
func schemaOf(ctx context.Context, conn *pgx.Conn) (int, error) {
	version := 0
	err := conn.QueryRow(ctx, "SELECT ctxls.schema_version()").Scan(&version)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && (pg.Code == "3F000" || pg.Code == "42883") { // no such schema, no such function
		return 0, nil
	}
	return version, err
}

// checkSchema returns an error for a schema that this program does not know.
func checkSchema(version int) error {
	switch {
	case version == 0:
		return &Error{coded.Invalid, "the database has no schema of ctxls yet", "run 'ctxls-fleet migrate' as the owner of the database"}
	case version < Schema:
		return &Error{coded.Invalid, fmt.Sprintf("the database has schema %d, and this ctxls-fleet needs %d", version, Schema), "run 'ctxls-fleet migrate' as the owner of the database"}
	case version > Schema:
		return errNewer(version)
	}
	return nil
}

func errNewer(version int) error {
	return &Error{coded.Invalid, fmt.Sprintf("the database has schema %d, and this ctxls-fleet knows %d at most", version, Schema), "install a newer ctxls-fleet"}
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Error is what went wrong, and what a person can do about it.
type Error struct {
	// Code is CodeInvalid if another try cannot help before a user has changed something.
	Code coded.Code
	What string
	Hint string // "" where there is no advice
}

func (e *Error) Error() string { return e.What }

// Unwrap returns the error as the domain knows it, with its code.
func (e *Error) Unwrap() error { return coded.Errorf(e.Code, "%s", e.What) }

// Temporary reports whether trying again may help.
func (e *Error) Temporary() bool { return e.Code == coded.Unavailable }

// explainServer says what a server refused. Codes: https://www.postgresql.org/docs/15/errcodes-appendix.html; those with CX are of our functions.
func (db *DB) explainServer(pg *pgconn.PgError) error {
	login := fmt.Sprintf("%q at %s", db.config.User, db.Target())
	never := func(what, hint string) error { return &Error{coded.Invalid, what, hint} }
	switch pg.Code {
	case "CX001":
		return never(fmt.Sprintf("another machine has pushed under this machine's id (last at %s)", pg.Message),
			"if this machine is a copy of another, run 'ctxls-fleet push --new-id'; if one side was restored from a backup, 'ctxls-fleet push --take-over'")
	case "CX002":
		off, late := strings.CutPrefix(pg.Message, "-")
		way := "ahead of"
		if late {
			way = "behind"
		}
		return never(fmt.Sprintf("this machine's clock is %s %s the database's", off, way), "set the clock; nothing was sent, and nothing is lost")
	case "CX003":
		return never(fmt.Sprintf("this machine was pushed by another login than %s", login), "use the login that it was pushed with, or 'ctxls-fleet push --new-id'")
	case "28P01", "28000":
		return never("the database refuses the login "+login+": "+pg.Message, "a password belongs into ~/.pgpass (mode 0600) or $PGPASSWORD")
	case "3D000":
		return never(fmt.Sprintf("there is no database %q at %s", db.config.Database, db.Target()), "create it with 'createdb', then run 'ctxls-fleet migrate'")
	case "42501":
		return never(fmt.Sprintf("%s may not do that: %s", login, pg.Message), "pushing needs the role ctxls_pusher, reading ctxls_reader, migrating and pruning the owner")
	case "53300", "57P03", "57P01", "57P02":
		return &Error{coded.Unavailable, "the database is not ready: " + pg.Message, ""}
	}
	if class := pg.Code[:min(2, len(pg.Code))]; class == "08" || class == "53" || class == "57" || class == "40" {
		return &Error{coded.Unavailable, "the database: " + pg.Message, ""}
	}
	return never(fmt.Sprintf("the database: %s (%s)", pg.Message, pg.Code), "")
}

// explainWay says why a server was not reached.
func (db *DB) explainWay(err error) error {
	unavailable := func(what, hint string) error { return &Error{coded.Unavailable, what, hint} }
	reach := "the database at " + db.Target() + " cannot be reached"
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return unavailable(fmt.Sprintf("%s: no such host %q", reach, dns.Name), "check the host in the URL")
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return unavailable(reach+": nothing listens there", "is the server running, and the port right?")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return unavailable(reach+": no answer in time", "")
	case strings.Contains(err.Error(), "x509:"), strings.Contains(err.Error(), "tls: "), strings.Contains(err.Error(), "tls error"):
		return &Error{coded.Invalid, reach + ": " + tail(err), "see sslmode and sslrootcert in the documentation of libpq"}
	}
	return unavailable(reach+": "+tail(err), "")
}

// tail returns the innermost error's text. The outer ones repeat the URL.
func tail(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return text.Sanitize(err.Error(), 200)
		}
		err = inner
	}
}

// plainParseError returns why a URL cannot be read, without quoting it: it may hold a password.
func plainParseError(err error) string {
	if _, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		if inner := errors.Unwrap(err); inner != nil && !strings.Contains(inner.Error(), "://") {
			return tail(inner)
		}
	}
	return "it is no URL of PostgreSQL"
}

// Package postgres keeps the figures of a team's machines in PostgreSQL 15 or later.
//
// Machines write by two functions of the schema, claim and push, and may do nothing else. Reports are worked out in SQL.
package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/team/push"
)

// DB is a team's database. It holds one connection, which it opens at the first use, and again after the connection broke. It is used by
// any number of goroutines, one after the other.
type DB struct {
	config *pgx.ConnConfig
	mu     sync.Mutex // held while the connection is used
	conn   *pgx.Conn
}

// connectTimeout is how long to wait for a server that does not answer, where the URL does not say it; dead after that long is a
// connection on which the other side has said nothing to what was asked.
const (
	connectTimeout = 10 * time.Second
	dead           = 30 * time.Second
)

// Open reads a URL or a list of settings as libpq does, with libpq's environment variables, its password file and its service file. It does not
// connect yet.
func Open(text string) (*DB, error) {
	config, err := pgx.ParseConfig(text)
	if err != nil {
		return nil, &Error{coded.Invalid, "the database's URL cannot be read: " + plainParseError(err), "want postgres://USER@HOST:PORT/DATABASE; a password belongs into ~/.pgpass or $PGPASSWORD"}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "ctxls-fleet"
	}
	// Nothing is prepared by name, so that poolers may stand between.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	return &DB{config: config}, nil
}

// Target names the database, without login and password.
func (db *DB) Target() string {
	return fmt.Sprintf("%s/%s", net.JoinHostPort(db.config.Host, fmt.Sprint(db.config.Port)), db.config.Database)
}

// Close closes the connection.
func (db *DB) Close() {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = db.conn.Close(ctx)
		db.conn = nil
	}
}

// connect returns the connection. The caller holds mu.
func (db *DB) connect(ctx context.Context) (*pgx.Conn, error) {
	if db.conn != nil && !db.conn.IsClosed() {
		return db.conn, nil
	}
	conn, err := pgx.ConnectConfig(ctx, db.config)
	if err != nil {
		return nil, db.explain(err)
	}
	db.conn = conn
	return conn, nil
}

// ask runs f on the connection. What is asked is answered within some time, or the connection is given up.
func (db *DB) ask(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	conn, err := db.connect(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, dead)
	defer cancel()
	return db.explain(f(ctx, conn))
}

// checked runs f after it has made sure that the schema is the one that this program knows.
func (db *DB) checked(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	return db.ask(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		version, err := schemaOf(ctx, conn)
		if err == nil {
			err = checkSchema(version)
		}
		if err != nil {
			return err
		}
		return f(ctx, conn)
	})
}

var _ push.Sink = (*DB)(nil)

// Claim implements push.Sink.
func (db *DB) Claim(ctx context.Context, c push.Claim) (cursor push.Cursor, err error) {
	asked, err := json.Marshal(c)
	if err != nil {
		return cursor, err
	}
	err = db.checked(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var answer []byte
		if err := conn.QueryRow(ctx, "SELECT ctxls.claim($1::text::jsonb)", string(asked)).Scan(&answer); err != nil {
			return err
		}
		return json.Unmarshal(answer, &cursor)
	})
	return cursor, err
}

// Push implements push.Sink. One batch is one statement, and one round trip.
func (db *DB) Push(ctx context.Context, batches []push.Batch) error {
	const statement = "SELECT ctxls.push($1::text::jsonb)"
	return db.ask(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		send := func(on interface {
			Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
		}, b push.Batch) error {
			text, err := json.Marshal(b)
			if err == nil {
				_, err = on.Exec(ctx, statement, string(text))
			}
			return err
		}
		if len(batches) == 1 {
			return send(conn, batches[0])
		}
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			for _, b := range batches {
				if err := send(tx, b); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// lost is the SQLSTATE of a cursor that is not where the sender believes.
const lost = "CX004"

// explain turns an error of the server or of the way to it into one for people, without any password.
func (db *DB) explain(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if _, ours := errors.AsType[*Error](err); ours {
		return err
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		if pg.Code == lost {
			return push.ErrLostCursor
		}
		return db.explainServer(pg)
	}
	return db.explainWay(err)
}

// HasPassword reports whether a URL or a list of settings has a password in it.
func HasPassword(text string) bool {
	u, err := url.Parse(text)
	if err == nil && u.Scheme != "" {
		_, has := u.User.Password()
		return has || u.Query().Has("password")
	}
	return strings.Contains(text, "password") || strings.Contains(text, "://") // one that cannot be parsed may have one
}

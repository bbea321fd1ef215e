package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"
)

// conn is one connection with the statements prepared on it. One goroutine uses it at a time.
type conn struct {
	db         *sql.DB
	home       chan *conn    // where it waits to be used
	timeout    time.Duration // how long to wait for other writers
	sql        *sql.Conn     // nil until it is needed
	statements map[string]*sql.Stmt
}

// open connects unless the connection is open.
func (c *conn) open(ctx context.Context) (err error) {
	if c.sql == nil {
		c.statements = map[string]*sql.Stmt{}
		c.sql, err = c.db.Conn(ctx)
	}
	return err
}

// giveBack returns the connection that file.take handed out.
func (c *conn) giveBack() { c.home <- c }

// close closes the connection, which can be opened again. The last connection of all processes to be closed checkpoints the write-ahead
// log and deletes it by its name. keep prevents this: the name may belong to another file by then.
func (c *conn) close(keep bool) {
	if c.sql == nil {
		return
	}
	for _, statement := range c.statements {
		statement.Close()
	}
	c.sql.Raw(func(raw any) error {
		if keep {
			keepLog(raw)
		}
		return driver.ErrBadConn // otherwise database/sql would keep the connection
	})
	c.sql.Close()
	c.sql = nil
}

// statement returns the prepared form of query. Preparing costs about as much as running it, and a server runs the same
// few again and again.
func (c *conn) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if statement := c.statements[query]; statement != nil {
		return statement, nil
	}
	statement, err := c.sql.PrepareContext(ctx, query)
	if err == nil {
		c.statements[query] = statement
	}
	return statement, err
}

// exec runs a statement that returns no rows.
func (c *conn) exec(ctx context.Context, query string, args ...any) error {
	statement, err := c.statement(ctx, query)
	if err != nil {
		return err
	}
	_, err = statement.ExecContext(ctx, args...)
	return err
}

// row scans the one row that query returns into dest, and reports whether there was one.
func (c *conn) row(ctx context.Context, query string, args []any, dest ...any) (bool, error) {
	statement, err := c.statement(ctx, query)
	if err != nil {
		return false, err
	}
	err = statement.QueryRowContext(ctx, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// rows calls each for every row of query. The scan that each is given reads the row's columns.
func (c *conn) rows(ctx context.Context, query string, args []any, each func(scan func(...any) error) error) error {
	statement, err := c.statement(ctx, query)
	if err != nil {
		return err
	}
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// transaction runs f between BEGIN and COMMIT. An error or a panic of f rolls everything back. A writing transaction takes its lock
// first and does not wait after that. The context of f then does not end, which saves a goroutine for each statement.
func (c *conn) transaction(ctx context.Context, write bool, f func(context.Context) error) (err error) {
	if err := c.open(ctx); err != nil {
		return err
	}
	begin, inside := func(ctx context.Context) error { return c.exec(ctx, "BEGIN") }, ctx
	if write {
		begin, inside = c.beginWriting, context.WithoutCancel(ctx)
	}
	if err := begin(ctx); err != nil {
		if ctx.Err() != nil {
			c.close(true) // it may have begun nevertheless
		}
		return err
	}
	done := false
	defer func() {
		if !done && c.exec(context.WithoutCancel(ctx), "ROLLBACK") != nil {
			c.close(true) // its state is unknown, so the next user connects again
		}
	}()
	if err := f(inside); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err = c.exec(context.WithoutCancel(ctx), "COMMIT") // must not be reported as failed after a commit
	done = err == nil
	return err
}

// beginWriting begins a transaction with the write lock. SQLite's own busy handler sleeps for a millisecond at first and then for up to
// a tenth of a second, so with many writers the lock is free while all of them sleep. A writer holds it for a quarter of a millisecond,
// so this function tries more often.
func (c *conn) beginWriting(ctx context.Context) error {
	if err := c.exec(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	deadline := time.Now().Add(c.timeout)
	var err error
	for wait := 100 * time.Microsecond; ; wait = min(2*wait, 2*time.Millisecond) {
		if err = c.exec(ctx, "BEGIN IMMEDIATE"); err == nil || !busy(err) || time.Now().After(deadline) {
			break
		}
		if err = pause(ctx, wait/2+rand.N(wait)); err != nil {
			break
		}
	}
	// All other waiting, such as for a log that another process repairs, is done by SQLite.
	if e := c.exec(context.WithoutCancel(ctx), "PRAGMA busy_timeout = "+strconv.FormatInt(c.timeout.Milliseconds(), 10)); e != nil {
		c.close(true) // in no known state
		err = e
	}
	return err
}

// millis is the stored form of times: milliseconds since 1970 UTC, 0 for none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// instant is the inverse of millis.
func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

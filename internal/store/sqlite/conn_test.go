package sqlite

import (
	"context"
	"path/filepath"
	"testing"
	"time"
)

// Our own wait handles the start of a write transaction. For every other lock, SQLite waits for its configured time.
func TestSQLiteWaitsAfterTheBeginning(t *testing.T) {
	f, err := openFile(t.Context(), filepath.Join(t.TempDir(), "state.db"), 3*time.Second, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.take(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close(true)
	for range 3 {
		var within, after int // milliseconds
		timeout := func(of *int) error { return c.sql.QueryRowContext(t.Context(), "PRAGMA busy_timeout").Scan(of) }
		if err := c.transaction(t.Context(), true, func(context.Context) error { return timeout(&within) }); err != nil {
			t.Fatal(err)
		}
		if err := timeout(&after); err != nil || within != 3000 || after != 3000 {
			t.Errorf("%v; SQLite waits %d ms in a transaction and %d after it", err, within, after)
		}
	}
}

package sqlite

import (
	"context"
	"crypto/sha256"

	"github.com/ctxls/ctxls/internal/core/session"
)

// forgottenHash returns the only data that the state keeps of a deleted session: 16 bytes, different for every session.
func forgottenHash(key session.Key) []byte {
	sum := sha256.Sum256([]byte(string(key.Host) + "\x00" + key.SessionID))
	return sum[:16]
}

// forget records that a session must not come back from its record.
func (c *conn) forget(ctx context.Context, key session.Key) error {
	return c.exec(ctx, "INSERT OR IGNORE INTO forgotten VALUES (?)", forgottenHash(key))
}

// Taken implements core.Store.
func (s *Store) Taken(ctx context.Context, keys []session.Key) (map[session.Key]bool, error) {
	taken := make(map[session.Key]bool)
	if len(keys) == 0 {
		return taken, nil
	}
	err := s.run(ctx, false, func(ctx context.Context, c *conn) error {
		clear(taken)
		for _, key := range keys {
			var found bool
			if _, err := c.row(ctx, `SELECT EXISTS (SELECT 1 FROM sessions WHERE session_id = ? AND host = ?)
				OR EXISTS (SELECT 1 FROM forgotten WHERE hash = ?)`, []any{key.SessionID, string(key.Host), forgottenHash(key)}, &found); err != nil {
				return err
			}
			if found {
				taken[key] = true
			}
		}
		return nil
	})
	return taken, err
}

package sqlite

import (
	"context"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// claimsSkew is how much earlier than the stored one a claim may be and not count: what a process sees late is seconds old, and a clock
// that was set back must not silence alerts.
const claimsSkew = time.Minute

// claimsKept is how long the value of a trigger is kept after it changed last.
const claimsKept = 30 * 24 * time.Hour

// Claim implements core.Store. Sessions of records have no row, so that a claim names its session by its hash.
func (s *Store) Claim(ctx context.Context, claim core.Claim) (rose bool, err error) {
	hash, at := forgottenHash(claim.Key), millis(claim.At)
	err = s.run(ctx, true, func(ctx context.Context, c *conn) error {
		var value, since int64
		known, err := c.row(ctx, "SELECT value, at FROM claims WHERE session = ? AND name = ?", []any{hash, claim.Name}, &value, &since)
		if err != nil {
			return err
		}
		late := at < since && since-at < claimsSkew.Milliseconds()
		rose = known && !late && claim.Value > value || !known && claim.First && claim.Value > 0
		if known && (late || claim.Value == value) {
			return nil
		}
		if err := c.exec(ctx, "DELETE FROM claims WHERE at < ?", at-claimsKept.Milliseconds()); err != nil {
			return err
		}
		return c.exec(ctx, "INSERT OR REPLACE INTO claims (session, name, value, at) VALUES (?, ?, ?, ?)", hash, claim.Name, claim.Value, at)
	})
	return rose && err == nil, err
}

// unclaim forgets what was claimed of a session.
func (c *conn) unclaim(ctx context.Context, key session.Key) error {
	return c.exec(ctx, "DELETE FROM claims WHERE session = ?", forgottenHash(key))
}

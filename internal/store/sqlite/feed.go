package sqlite

import (
	"context"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

const (
	// newestRevision is the revision of the last save or removal, as an expression.
	newestRevision = "max((SELECT max(revision) FROM removed), (SELECT ifnull(max(revision), 0) FROM sessions))"
	nextRevision   = "1 + " + newestRevision
)

// Changed implements core.Store.
func (s *Store) Changed(ctx context.Context, since int64) (core.Feed, error) {
	var feed core.Feed
	err := s.run(ctx, false, func(ctx context.Context, c *conn) error {
		feed = core.Feed{}
		var first int64
		if _, err := c.row(ctx, "SELECT "+newestRevision+", (SELECT min(revision) FROM removed)", nil, &feed.Revision, &first); err != nil {
			return err
		}
		var err error
		if feed.Alert, _, err = c.counters(ctx); err != nil || since == feed.Revision {
			return err
		}
		feed.Whole = since < first || since > feed.Revision
		if feed.Whole {
			since = -1 // older than all revisions
		} else if feed.Removed, err = c.removed(ctx, since); err != nil {
			return err
		}
		rows, err := c.sessions(ctx, "WHERE revision > ? ORDER BY revision, id", []any{since})
		if err != nil {
			return err
		}
		feed.Sessions, err = c.withWorkingSets(ctx, rows)
		return err
	})
	return feed, err
}

// removed returns the sessions that were removed since a revision and do not exist again.
func (c *conn) removed(ctx context.Context, since int64) (keys []session.Key, err error) {
	err = c.rows(ctx, `SELECT host, session_id FROM removed r WHERE revision > ? AND NOT EXISTS
		(SELECT 1 FROM sessions s WHERE s.session_id = r.session_id AND s.host = r.host)
		GROUP BY session_id, host ORDER BY max(revision)`, []any{since}, func(scan func(...any) error) error {
		var key session.Key
		err := scan(&key.Host, &key.SessionID)
		keys = append(keys, key)
		return err
	})
	return keys, err
}

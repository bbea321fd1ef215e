package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/ctxls/ctxls/internal/core"
)

// maxSamples bounds the history of a session, and thinEvery says at how many new ones that is looked after: so often that
// counting them costs an update next to nothing.
const (
	maxSamples = 2000
	thinEvery  = 100
)

// sessionRow is a session with its number in this database.
type sessionRow struct {
	id      int64
	session core.Session
}

const selectSessions = "SELECT id, host, session_id, cwd, data FROM sessions "

// scanSession reads a row of selectSessions. What stands in columns is kept there byte for byte, which JSON does not do
// for text that is not UTF-8.
func scanSession(scan func(...any) error) (sessionRow, error) {
	var row sessionRow
	var host, sessionID, cwd string
	var data []byte
	if err := scan(&row.id, &host, &sessionID, &cwd, &data); err != nil {
		return row, err
	}
	if err := json.Unmarshal(data, &row.session); err != nil {
		return row, fmt.Errorf("%w: %w", errDamaged, err)
	}
	row.session.Host, row.session.SessionID, row.session.CWD = core.Host(host), sessionID, cwd
	return row, nil
}

// sessions returns the rows of selectSessions with the given conditions, leaving out those that keep refuses.
func (c *conn) sessions(ctx context.Context, conditions string, args []any) ([]sessionRow, error) {
	var found []sessionRow
	err := c.rows(ctx, selectSessions+conditions, args, func(scan func(...any) error) error {
		row, err := scanSession(scan)
		found = append(found, row)
		return err
	})
	return found, err
}

// session returns one session, nil where it is not stored.
func (c *conn) session(ctx context.Context, key core.Key) (*sessionRow, error) {
	found, err := c.sessions(ctx, "WHERE session_id = ? AND host = ?", []any{key.SessionID, string(key.Host)})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// putSession stores s, replacing what is stored of it, and returns its number.
func (c *conn) putSession(ctx context.Context, s core.Session) (id int64, err error) {
	data, err := json.Marshal(s)
	if err != nil {
		return 0, err
	}
	_, err = c.row(ctx, `INSERT INTO sessions (host, session_id, cwd, updated_at, ended_at, data) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (session_id, host) DO UPDATE
		SET cwd = excluded.cwd, updated_at = excluded.updated_at, ended_at = excluded.ended_at, data = excluded.data
		RETURNING id`,
		[]any{string(s.Host), s.SessionID, s.CWD, millis(s.UpdatedAt), millis(s.EndedAt), string(data)}, &id)
	return id, err
}

// forgetOldest keeps the newest sessions, at most most of them. The one that was just saved is one of them whatever its
// time: it is not silent.
func (c *conn) forgetOldest(ctx context.Context, saved int64, most int) error {
	var count int
	if _, err := c.row(ctx, "SELECT count(*) FROM sessions", nil, &count); err != nil || count <= most {
		return err
	}
	return c.exec(ctx, `DELETE FROM sessions WHERE id IN
		(SELECT id FROM sessions WHERE id <> ? ORDER BY updated_at DESC, id DESC LIMIT -1 OFFSET ?)`, saved, most-1)
}

// byRecency orders a working set: the most recently used first; of those used at one time the one used most heavily.
const byRecency = "ORDER BY used_at DESC, use DESC, path"

// workingSet returns the paths of a session.
func (c *conn) workingSet(ctx context.Context, id int64) ([]core.PathUse, error) {
	var set []core.PathUse
	err := c.rows(ctx, "SELECT path, use, used_at FROM paths WHERE session = ? "+byRecency, []any{id}, func(scan func(...any) error) error {
		var use core.PathUse
		var at int64
		err := scan(&use.Path, &use.Use, &at)
		use.At = instant(at)
		set = append(set, use)
		return err
	})
	return set, err
}

// putPaths adds uses to a session's working set. A path that is there already keeps its heaviest use and its latest time.
func (c *conn) putPaths(ctx context.Context, id int64, uses []core.PathUse) error {
	for _, use := range uses {
		err := c.exec(ctx, `INSERT INTO paths (session, path, use, used_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (session, path) DO UPDATE SET use = max(use, excluded.use), used_at = max(used_at, excluded.used_at)`,
			id, use.Path, int(use.Use), millis(use.At))
		if err != nil {
			return err
		}
	}
	if len(uses) == 0 {
		return nil
	}
	var count int
	if _, err := c.row(ctx, "SELECT count(*) FROM paths WHERE session = ?", []any{id}, &count); err != nil || count <= core.MaxWorkingSet {
		return err
	}
	return c.exec(ctx, `DELETE FROM paths WHERE session = ?1 AND path IN
		(SELECT path FROM paths WHERE session = ?1 `+byRecency+` LIMIT -1 OFFSET ?2)`, id, core.MaxWorkingSet)
}

// putSamples adds samples to a session's history and thins it before it holds more than maxSamples.
func (c *conn) putSamples(ctx context.Context, id int64, samples []core.Sample) error {
	for _, sample := range samples {
		var seq int64
		_, err := c.row(ctx, `INSERT INTO samples (session, seq, at, tokens, window_tokens, kind)
			VALUES (?1, (SELECT coalesce(max(seq), 0) + 1 FROM samples WHERE session = ?1), ?2, ?3, ?4, ?5) RETURNING seq`,
			[]any{id, millis(sample.At), sample.Tokens, sample.WindowTokens, string(sample.Kind)}, &seq)
		if err != nil {
			return err
		}
		if seq%thinEvery == 0 {
			if err := c.thin(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// thin makes room for the next thinEvery samples. The past is kept in less and less detail: of the older half every
// second sample goes, but no compaction. Only a session that is all compactions loses its oldest.
func (c *conn) thin(ctx context.Context, id int64) error {
	const most = maxSamples - thinEvery
	var count int
	if _, err := c.row(ctx, "SELECT count(*) FROM samples WHERE session = ?", []any{id}, &count); err != nil || count <= most {
		return err
	}
	err := c.exec(ctx, `DELETE FROM samples WHERE session = ?1 AND seq IN
		(SELECT seq FROM (SELECT seq, kind, row_number() OVER (ORDER BY at, seq) AS n FROM samples WHERE session = ?1)
		WHERE n <= ?2 / 2 AND n % 2 = 0 AND kind <> ?3)`, id, count, string(core.SampleCompaction))
	if err != nil {
		return err
	}
	return c.exec(ctx, `DELETE FROM samples WHERE session = ?1 AND seq IN
		(SELECT seq FROM samples WHERE session = ?1 ORDER BY at DESC, seq DESC LIMIT -1 OFFSET ?2)`, id, most)
}

// Session implements core.Store.
func (s *Store) Session(ctx context.Context, key core.Key) (core.Snapshot, error) {
	var snapshot core.Snapshot
	err := s.run(ctx, false, func(c *conn) error {
		row, err := c.session(ctx, key)
		if err != nil {
			return err
		}
		if row == nil {
			return core.Errorf(core.CodeNotFound, "no session %q of %s is known", key.SessionID, key.Host)
		}
		set, err := c.workingSet(ctx, row.id)
		snapshot = core.Snapshot{Session: row.session, WorkingSet: set}
		return err
	})
	return snapshot, err
}

// FindSessions implements core.Store.
func (s *Store) FindSessions(ctx context.Context, id string) ([]core.Snapshot, error) {
	return s.snapshots(ctx, "WHERE session_id = ?", []any{id}, core.SessionFilter{})
}

// Sessions implements core.Store.
func (s *Store) Sessions(ctx context.Context, f core.SessionFilter) ([]core.Snapshot, error) {
	return s.snapshots(ctx, "WHERE (?1 = '' OR host = ?1) AND (?2 OR ended_at = 0)", []any{string(f.Host), f.IncludeEnded}, f)
}

// snapshots returns the sessions that meet the conditions and lie in the folders of f, at most its limit.
func (s *Store) snapshots(ctx context.Context, conditions string, args []any, f core.SessionFilter) ([]core.Snapshot, error) {
	var found []core.Snapshot
	err := s.run(ctx, false, func(c *conn) error {
		found = nil
		rows, err := c.sessions(ctx, conditions+" ORDER BY updated_at DESC, id DESC", args)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if len(f.Folders) > 0 && !withinAny(f.Folders, row.session.CWD) {
				continue
			}
			set, err := c.workingSet(ctx, row.id)
			if err != nil {
				return err
			}
			found = append(found, core.Snapshot{Session: row.session, WorkingSet: set})
			if len(found) == f.Limit {
				break
			}
		}
		return nil
	})
	return found, err
}

// withinAny reports whether cwd is one of the folders or lies below one.
func withinAny(folders []string, cwd string) bool {
	for _, folder := range folders {
		if within(folder, cwd, runtime.GOOS == "windows") {
			return true
		}
	}
	return false
}

// Samples implements core.Store.
func (s *Store) Samples(ctx context.Context, key core.Key, limit int) ([]core.Sample, error) {
	if limit <= 0 {
		limit = -1
	}
	var samples []core.Sample
	err := s.run(ctx, false, func(c *conn) error {
		samples = nil
		return c.rows(ctx, `SELECT at, tokens, window_tokens, kind FROM
			(SELECT m.* FROM samples m JOIN sessions s ON s.id = m.session WHERE s.session_id = ? AND s.host = ?
			ORDER BY m.at DESC, m.seq DESC LIMIT ?) ORDER BY at, seq`,
			[]any{key.SessionID, string(key.Host), limit}, func(scan func(...any) error) error {
				var sample core.Sample
				var at int64
				err := scan(&at, &sample.Tokens, &sample.WindowTokens, &sample.Kind)
				sample.At = instant(at)
				samples = append(samples, sample)
				return err
			})
	})
	return samples, err
}

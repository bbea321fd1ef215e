package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
)

// maxSamples bounds the history of a session. tidyEvery is the number of new paths and samples after which both are cut to size. It is
// large enough that counting them costs an update almost nothing.
const (
	maxSamples = 2000
	tidyEvery  = 500
)

// sessionRow is a session in the form of its table.
type sessionRow struct {
	id, added int64
	session   session.Session
}

const selectSessions = "SELECT id, host, session_id, cwd, added, data FROM sessions "

// scanSession reads a row of selectSessions. Columns keep text byte for byte; JSON does not keep text that is not UTF-8.
func scanSession(scan func(...any) error) (sessionRow, error) {
	var row sessionRow
	var host, sessionID, cwd string
	var data []byte
	if err := scan(&row.id, &host, &sessionID, &cwd, &row.added, &data); err != nil {
		return row, err
	}
	if err := json.Unmarshal(data, &row.session); err != nil {
		return row, fmt.Errorf("%w: %w", errDamaged, err)
	}
	row.session.Host, row.session.SessionID, row.session.CWD = session.Host(host), sessionID, cwd
	return row, nil
}

// sessions returns the rows of selectSessions with the given conditions.
func (c *conn) sessions(ctx context.Context, conditions string, args []any) ([]sessionRow, error) {
	var found []sessionRow
	err := c.rows(ctx, selectSessions+conditions, args, func(scan func(...any) error) error {
		row, err := scanSession(scan)
		found = append(found, row)
		return err
	})
	return found, err
}

// session returns one session, nil if it is not stored.
func (c *conn) session(ctx context.Context, key session.Key) (*sessionRow, error) {
	found, err := c.sessions(ctx, "WHERE session_id = ? AND host = ?", []any{key.SessionID, string(key.Host)})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// saveSession writes the changes to one session and its data. row is its stored form.
func (c *conn) saveSession(ctx context.Context, row *sessionRow, changes session.Changes) error {
	if row == nil && changes.Session == nil {
		return coded.Errorf(coded.Internal, "paths or samples belong to a session that is not stored")
	}
	isNew := row == nil
	if isNew {
		row = &sessionRow{}
	}
	before := row.added
	row.added += int64(len(changes.Paths) + len(changes.Samples))
	if changes.Session != nil {
		row.session = *changes.Session
	}
	if err := c.put(ctx, row, isNew); err != nil {
		return err
	}
	for _, use := range changes.Paths {
		if err := c.putPath(ctx, row.id, use); err != nil {
			return err
		}
	}
	for i, sample := range changes.Samples {
		if err := c.putSample(ctx, row.id, before+int64(i), sample); err != nil {
			return err
		}
	}
	if before/tidyEvery != row.added/tidyEvery {
		if err := c.tidy(ctx, row.id); err != nil {
			return err
		}
	}
	if isNew && changes.MaxSessions > 0 {
		return c.forgetOldest(ctx, row.id, changes.MaxSessions)
	}
	return nil
}

// put writes the row of a session with a new revision. A new session gets its ID.
func (c *conn) put(ctx context.Context, row *sessionRow, isNew bool) error {
	s := row.session
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if !isNew {
		return c.exec(ctx, "UPDATE sessions SET cwd = ?, updated_at = ?, ended_at = ?, added = ?, data = ?, revision = "+nextRevision+" WHERE id = ?",
			s.CWD, millis(s.UpdatedAt), millis(s.EndedAt), row.added, string(data), row.id)
	}
	_, err = c.row(ctx, `INSERT INTO sessions (host, session_id, cwd, updated_at, ended_at, added, data, revision)
		VALUES (?, ?, ?, ?, ?, ?, ?, `+nextRevision+`) RETURNING id`,
		[]any{string(s.Host), s.SessionID, s.CWD, millis(s.UpdatedAt), millis(s.EndedAt), row.added, string(data)}, &row.id)
	return err
}

// forgetOldest keeps the newest sessions, at most most of them. The session that was just added always stays, whatever its time. It is
// called only after one was added, since nothing else increases their number.
func (c *conn) forgetOldest(ctx context.Context, added int64, most int) error {
	var count int
	if _, err := c.row(ctx, "SELECT count(*) FROM sessions", nil, &count); err != nil || count <= most {
		return err
	}
	return c.exec(ctx, `DELETE FROM sessions WHERE id IN
		(SELECT id FROM sessions WHERE id <> ? ORDER BY updated_at DESC, id DESC LIMIT -1 OFFSET ?)`, added, most-1)
}

// byRecency orders a working set: the most recently used first; at the same time, the heaviest use first.
const byRecency = "ORDER BY used_at DESC, use DESC, path"

// workingSet returns the paths of a session.
func (c *conn) workingSet(ctx context.Context, id int64) ([]session.PathUse, error) {
	var set []session.PathUse
	err := c.rows(ctx, "SELECT path, use, used_at FROM paths WHERE session = ? "+byRecency+" LIMIT ?", []any{id, session.MaxWorkingSet}, func(scan func(...any) error) error {
		var use session.PathUse
		var at int64
		err := scan(&use.Path, &use.Use, &at)
		use.At = instant(at)
		set = append(set, use)
		return err
	})
	return set, err
}

// putPath adds one use to a session's working set. A path that is already there keeps its heaviest use and latest time.
func (c *conn) putPath(ctx context.Context, id int64, use session.PathUse) error {
	return c.exec(ctx, `INSERT INTO paths (session, path, use, used_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (session, path) DO UPDATE SET use = max(use, excluded.use), used_at = max(used_at, excluded.used_at)`,
		id, use.Path, int(use.Use), millis(use.At))
}

// putSample adds one sample to a session's history.
func (c *conn) putSample(ctx context.Context, id, seq int64, sample session.Sample) error {
	return c.exec(ctx, "INSERT INTO samples (session, seq, at, tokens, window_tokens, kind) VALUES (?, ?, ?, ?, ?, ?)",
		id, seq, millis(sample.At), sample.Tokens, sample.WindowTokens, string(sample.Kind))
}

// tidy cuts the data of a session to size, and leaves room for what comes before the next time.
//
// It removes the least recently used paths. It thins out samples: every second one of the older half. Compactions stay; only if almost
// all samples are compactions, the oldest are removed.
func (c *conn) tidy(ctx context.Context, id int64) error {
	const most = maxSamples - tidyEvery
	var paths, samples, compactions int
	count := func() error {
		_, err := c.row(ctx, `SELECT (SELECT count(*) FROM paths WHERE session = ?1), count(*), coalesce(sum(kind = ?2), 0) FROM samples WHERE session = ?1`,
			[]any{id, string(session.SampleCompaction)}, &paths, &samples, &compactions)
		return err
	}
	err := count()
	if err == nil && paths > session.MaxWorkingSet {
		err = c.exec(ctx, `DELETE FROM paths WHERE session = ?1 AND path IN
			(SELECT path FROM paths WHERE session = ?1 `+byRecency+` LIMIT -1 OFFSET ?2)`, id, session.MaxWorkingSet)
	}
	if err == nil && compactions > most-tidyEvery {
		err = c.exec(ctx, `DELETE FROM samples WHERE session = ?1 AND seq IN
			(SELECT seq FROM samples WHERE session = ?1 AND kind = ?2 ORDER BY at DESC, seq DESC LIMIT -1 OFFSET ?3)`,
			id, string(session.SampleCompaction), most-tidyEvery)
		if err == nil {
			err = count()
		}
	}
	for err == nil && samples > most {
		err = c.exec(ctx, `DELETE FROM samples WHERE session = ?1 AND seq IN
			(SELECT seq FROM (SELECT seq, row_number() OVER (ORDER BY at, seq) AS n FROM samples WHERE session = ?1 AND kind <> ?3)
			WHERE n <= ?2 / 2 AND n % 2 = 0)`, id, samples-compactions, string(session.SampleCompaction))
		if err == nil {
			err = count()
		}
	}
	return err
}

// Session implements core.Store.
func (s *Store) Session(ctx context.Context, key session.Key) (session.Snapshot, error) {
	var snapshot session.Snapshot
	err := s.run(ctx, false, func(ctx context.Context, c *conn) error {
		row, err := c.session(ctx, key)
		if err != nil {
			return err
		}
		if row == nil {
			return coded.Errorf(coded.NotFound, "no session %q of %s is known", key.SessionID, key.Host)
		}
		set, err := c.workingSet(ctx, row.id)
		snapshot = session.Snapshot{Session: row.session, WorkingSet: set}
		return err
	})
	return snapshot, err
}

// FindSessions implements core.Store.
func (s *Store) FindSessions(ctx context.Context, id string) ([]session.Session, error) {
	var found []session.Session
	err := s.run(ctx, false, func(ctx context.Context, c *conn) error {
		rows, err := c.sessions(ctx, "WHERE session_id = ?"+newestFirst, []any{id})
		found = nil
		for _, row := range rows {
			found = append(found, row.session)
		}
		return err
	})
	return found, err
}

// Sessions implements core.Store.
func (s *Store) Sessions(ctx context.Context, f core.SessionFilter) ([]session.Snapshot, error) {
	var found []session.Snapshot
	err := s.run(ctx, false, func(ctx context.Context, c *conn) error {
		rows, err := c.sessions(ctx, "WHERE (?1 = '' OR host = ?1) AND (?2 OR ended_at = 0)"+newestFirst, []any{string(f.Host), f.IncludeEnded})
		if err != nil {
			return err
		}
		rows = slices.DeleteFunc(rows, func(row sessionRow) bool { return !f.Matches(row.session) })
		if f.Limit > 0 {
			rows = rows[:min(f.Limit, len(rows))]
		}
		found, err = c.withWorkingSets(ctx, rows)
		return err
	})
	return found, err
}

// newestFirst orders the rows of selectSessions.
const newestFirst = " ORDER BY updated_at DESC, id DESC"

// withWorkingSets returns the sessions of rows with their working sets.
func (c *conn) withWorkingSets(ctx context.Context, rows []sessionRow) ([]session.Snapshot, error) {
	var all []session.Snapshot
	for _, row := range rows {
		set, err := c.workingSet(ctx, row.id)
		if err != nil {
			return nil, err
		}
		all = append(all, session.Snapshot{Session: row.session, WorkingSet: set})
	}
	return all, nil
}

// Samples implements core.Store.
func (s *Store) Samples(ctx context.Context, key session.Key, limit int) ([]session.Sample, error) {
	if limit <= 0 {
		limit = -1
	}
	var samples []session.Sample
	err := s.run(ctx, false, func(ctx context.Context, c *conn) error {
		samples = nil
		return c.rows(ctx, `SELECT at, tokens, window_tokens, kind FROM
			(SELECT m.* FROM samples m JOIN sessions s ON s.id = m.session WHERE s.session_id = ? AND s.host = ?
			ORDER BY m.at DESC, m.seq DESC LIMIT ?) ORDER BY at, seq`,
			[]any{key.SessionID, string(key.Host), limit}, func(scan func(...any) error) error {
				var sample session.Sample
				var at int64
				err := scan(&at, &sample.Tokens, &sample.WindowTokens, &sample.Kind)
				sample.At = instant(at)
				samples = append(samples, sample)
				return err
			})
	})
	return samples, err
}

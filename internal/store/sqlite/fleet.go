package sqlite

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
)

// taskSums returns the sums over the newest tasks, at most ring of them.
func (c *conn) taskSums(ctx context.Context, id string, threshold, ring int) (fleet.TaskSums, error) {
	var sums fleet.TaskSums
	var last int64
	_, err := c.row(ctx, `SELECT count(*), coalesce(sum(tokens > ?2), 0), coalesce(max(seq), 0) FROM tasks
		WHERE seq > (SELECT max(seq) FROM tasks) - ?1`, []any{ring, threshold}, &sums.Tasks, &sums.Exceeding, &last)
	if err != nil {
		return sums, err
	}
	sums.IsRecorded, err = c.row(ctx, "SELECT tokens FROM tasks WHERE id = ? AND seq > ?", []any{id, last - int64(ring)}, &sums.Recorded)
	if err != nil {
		return sums, err
	}
	sums.Full = sums.Tasks == ring
	if sums.Full {
		_, err = c.row(ctx, "SELECT tokens > ? FROM tasks WHERE seq = ?", []any{threshold, last - int64(ring) + 1}, &sums.OldestExceeds)
	}
	return sums, err
}

// saveTask records one task. A repeat keeps its place in the ring and its first time.
func (c *conn) saveTask(ctx context.Context, task fleet.Task, ring int) error {
	const shorten = "DELETE FROM tasks WHERE seq <= (SELECT max(seq) FROM tasks) - ?"
	// This comes first, for a ring that used to be longer: a task beyond its end is no repeat.
	if err := c.exec(ctx, shorten, ring); err != nil {
		return err
	}
	err := c.exec(ctx, "INSERT INTO tasks (id, tokens, at) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET tokens = max(tokens, excluded.tokens)",
		task.ID, task.Tokens, millis(task.At))
	if err != nil {
		return err
	}
	return c.exec(ctx, shorten, ring)
}

// counters returns the alert gate and the trim counters.
func (c *conn) counters(ctx context.Context) (alert fleet.AlertGate, trim fleet.TrimCount, err error) {
	var at int64
	_, err = c.row(ctx, "SELECT alert_at, alert_rate, trim_operations, trimmed_tokens FROM fleet", nil,
		&at, &alert.Rate, &trim.Operations, &trim.Tokens)
	alert.At = instant(at)
	return alert, trim, err
}

// Fleet implements core.Store. Since is the time of the oldest task in the ring.
func (s *Store) Fleet(ctx context.Context, windowTasks int) (fleet.Fleet, error) {
	var figures fleet.Fleet
	err := s.run(ctx, false, func(ctx context.Context, c *conn) error {
		figures = fleet.Fleet{}
		var err error
		if figures.Alert, figures.Trim, err = c.counters(ctx); err != nil {
			return err
		}
		return c.rows(ctx, "SELECT tokens, at FROM tasks ORDER BY seq DESC LIMIT ?", []any{ring(windowTasks)}, func(scan func(...any) error) error {
			var tokens int
			var at int64
			err := scan(&tokens, &at)
			figures.Tokens = append(figures.Tokens, tokens)
			figures.Since = instant(at)
			return err
		})
	})
	return figures, err
}

const selectWindows = "SELECT host, provider, model, accepted, stated, why, at FROM windows "

// scanWindow reads a row of selectWindows.
func scanWindow(scan func(...any) error) (session.LearnedWindow, error) {
	var w session.LearnedWindow
	var at int64
	err := scan(&w.Host, &w.Provider, &w.Model, &w.AcceptedTokens, &w.StatedTokens, &w.Why, &at)
	w.At = instant(at)
	return w, err
}

// window returns what was learned about a model, or the zero value.
func (c *conn) window(ctx context.Context, host session.Host, provider, modelID string) (w session.LearnedWindow, err error) {
	if modelID == "" {
		return w, nil
	}
	err = c.rows(ctx, selectWindows+"WHERE host = ? AND provider = ? AND model = ?", []any{string(host), provider, model.Plain(modelID)},
		func(scan func(...any) error) error {
			w, err = scanWindow(scan)
			return err
		})
	return w, err
}

// saveWindow replaces what was learned about a model; an empty value removes it.
func (c *conn) saveWindow(ctx context.Context, w session.LearnedWindow) error {
	if w.AcceptedTokens == 0 && w.StatedTokens == 0 {
		return c.exec(ctx, "DELETE FROM windows WHERE host = ? AND provider = ? AND model = ?", string(w.Host), w.Provider, model.Plain(w.Model))
	}
	return c.exec(ctx, `INSERT INTO windows (host, provider, model, accepted, stated, why, at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (host, provider, model) DO UPDATE
		SET accepted = excluded.accepted, stated = excluded.stated, why = excluded.why, at = excluded.at`,
		string(w.Host), w.Provider, model.Plain(w.Model), w.AcceptedTokens, w.StatedTokens, w.Why, millis(w.At))
}

// Windows implements core.Store. The order is host, provider, model.
func (s *Store) Windows(ctx context.Context) ([]session.LearnedWindow, error) {
	var all []session.LearnedWindow
	err := s.run(ctx, false, func(ctx context.Context, c *conn) error {
		all = nil
		return c.rows(ctx, selectWindows+"ORDER BY host, provider, model", nil, func(scan func(...any) error) error {
			w, err := scanWindow(scan)
			all = append(all, w)
			return err
		})
	})
	return all, err
}

package sqlite

import (
	"context"
	"slices"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

var _ core.Archive = (*Store)(nil)

// SamplesFrom implements core.Archive.
func (s *Store) SamplesFrom(ctx context.Context, key session.Key, from int64) ([]core.NumberedSample, error) {
	var samples []core.NumberedSample
	err := s.run(ctx, false, func(ctx context.Context, c *conn) error {
		samples = nil
		return c.rows(ctx, `SELECT m.seq, m.at, m.tokens, m.window_tokens, m.kind FROM samples m JOIN sessions s ON s.id = m.session
			WHERE s.session_id = ? AND s.host = ? AND m.seq >= ? ORDER BY m.seq`,
			[]any{key.SessionID, string(key.Host), from}, func(scan func(...any) error) error {
				var sample core.NumberedSample
				var at int64
				err := scan(&sample.Seq, &at, &sample.Tokens, &sample.WindowTokens, &sample.Kind)
				sample.At = instant(at)
				samples = append(samples, sample)
				return err
			})
	})
	return samples, err
}

// Tasks implements core.Archive.
func (s *Store) Tasks(ctx context.Context, windowTasks int) ([]core.NumberedTask, error) {
	var tasks []core.NumberedTask
	err := s.run(ctx, false, func(ctx context.Context, c *conn) error {
		tasks = nil
		return c.rows(ctx, "SELECT seq, id, tokens, at FROM tasks ORDER BY seq DESC LIMIT ?", []any{ring(windowTasks)}, func(scan func(...any) error) error {
			var task core.NumberedTask
			var at int64
			err := scan(&task.Seq, &task.ID, &task.Tokens, &at)
			task.At = instant(at)
			tasks = append(tasks, task)
			return err
		})
	})
	slices.Reverse(tasks)
	return tasks, err
}

package sqlite

import (
	"context"
	"slices"
	"strconv"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// importedPrefix is the prefix of the IDs of imported tasks, which do not name their session.
const importedPrefix = "imported "

// ImportTasks implements core.Store. Imported tasks have the lowest numbers, so that the ring drops them first.
func (s *Store) ImportTasks(ctx context.Context, tasks []core.ImportedTask, windowTasks int) (kept int, err error) {
	newest := slices.SortedStableFunc(slices.Values(tasks), func(a, b core.ImportedTask) int { return b.At.Compare(a.At) })
	err = s.run(ctx, true, func(ctx context.Context, c *conn) error {
		kept = 0
		if err := c.exec(ctx, "DELETE FROM tasks WHERE substr(id, 1, ?) = ?", len(importedPrefix), importedPrefix); err != nil {
			return err
		}
		if err := c.exec(ctx, "DELETE FROM calibrations WHERE json_extract(data, '$.imported')"); err != nil {
			return err
		}
		var count, next int64
		if _, err := c.row(ctx, "SELECT count(*), ifnull(min(seq), 1) - 1 FROM tasks", nil, &count, &next); err != nil {
			return err
		}
		told := map[session.Key]bool{} // sessions with tasks in the ring
		for _, task := range newest {
			if count >= int64(ring(windowTasks)) {
				break
			}
			of, asked := told[task.Key]
			if !asked {
				prefix := session.TurnTaskPrefix(task.Key)
				if _, err := c.row(ctx, "SELECT EXISTS (SELECT 1 FROM tasks WHERE substr(id, 1, length(?1)) = ?1)", []any{prefix}, &of); err != nil {
					return err
				}
				told[task.Key] = of
			}
			if of {
				continue
			}
			if err := c.exec(ctx, "INSERT INTO tasks (seq, id, tokens, at) VALUES (?, ?, ?, ?)", next, importedPrefix+strconv.Itoa(kept), task.Tokens, millis(task.At)); err != nil {
				return err
			}
			next, count, kept = next-1, count+1, kept+1
		}
		return nil
	})
	return kept, err
}

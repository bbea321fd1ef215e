package sqlite

import (
	"cmp"
	"context"
	"math"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
)

// load reads what q asks for. It also returns the row of the session, nil if it is not stored.
func (c *conn) load(ctx context.Context, q core.Query) (state session.State, row *sessionRow, err error) {
	if q.Key != (session.Key{}) {
		if row, err = c.session(ctx, q.Key); err != nil {
			return state, nil, err
		}
		if row != nil {
			state.Known, state.Session = true, row.session
			if q.WorkingSet {
				if state.WorkingSet, err = c.workingSet(ctx, row.id); err != nil {
					return state, nil, err
				}
			}
		}
		provider, model := cmp.Or(q.Provider, state.Session.Provider), cmp.Or(q.Model, state.Session.Model)
		if state.Learned, err = c.window(ctx, q.Key.Host, provider, model); err != nil {
			return state, nil, err
		}
		if q.Calibration != "" {
			if state.Calibration, err = c.calibration(ctx, model, q.Calibration); err != nil {
				return state, nil, err
			}
		}
	}
	if q.Task == nil {
		return state, row, nil
	}
	if task := q.Task(state.Session); task != "" {
		if state.Tasks, err = c.taskSums(ctx, task, q.TaskThreshold, ring(q.WindowTasks)); err != nil {
			return state, nil, err
		}
		state.Alert, _, err = c.counters(ctx)
	}
	return state, row, err
}

// save writes changes: deletions first. row is the row of q's session.
func (c *conn) save(ctx context.Context, q core.Query, row *sessionRow, changes session.Changes) (err error) {
	if changes.Session != nil && changes.Session.Key() != q.Key {
		return coded.Errorf(coded.Internal, "the update of one session would save another one")
	}
	if changes.Delete {
		if err := c.forget(ctx, q.Key); err != nil {
			return err
		}
		if err := c.unclaim(ctx, q.Key); err != nil {
			return err
		}
	}
	if changes.Delete && row != nil {
		if err := c.exec(ctx, "DELETE FROM sessions WHERE id = ?", row.id); err != nil {
			return err
		}
		// The figures of its turns stay in the ring, which has no gaps, but lose the link to the session.
		prefix := session.TurnTaskPrefix(q.Key)
		if err := c.exec(ctx, "UPDATE tasks SET id = 'forgotten ' || seq WHERE substr(id, 1, length(?)) = ?", prefix, prefix); err != nil {
			return err
		}
		row = nil
	}
	if changes.Session != nil || len(changes.Paths)+len(changes.Samples) > 0 {
		if err := c.saveSession(ctx, row, changes); err != nil {
			return err
		}
	}
	if changes.Learned != nil {
		if err := c.saveWindow(ctx, *changes.Learned); err != nil {
			return err
		}
	}
	if changes.Calibration != nil {
		if err := c.saveCalibration(ctx, *changes.Calibration); err != nil {
			return err
		}
	}
	if changes.Task != nil {
		if err := c.saveTask(ctx, *changes.Task, ring(changes.WindowTasks)); err != nil {
			return err
		}
	}
	if changes.Alert != nil {
		if err := c.exec(ctx, "UPDATE fleet SET alert_at = ?, alert_rate = ?", millis(changes.Alert.At), changes.Alert.Rate); err != nil {
			return err
		}
	}
	if changes.Trim != nil {
		return c.exec(ctx, "UPDATE fleet SET trim_operations = trim_operations + ?, trimmed_tokens = trimmed_tokens + ?",
			changes.Trim.Operations, changes.Trim.Tokens)
	}
	return nil
}

// ring is the length of the task ring; 0 is no bound.
func ring(windowTasks int) int {
	if windowTasks <= 0 {
		return math.MaxInt32
	}
	return windowTasks
}

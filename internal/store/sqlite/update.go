package sqlite

import (
	"context"
	"math"

	"github.com/ctxls/ctxls/internal/core"
)

// load reads what q asks for.
func (c *conn) load(ctx context.Context, q core.Query) (core.State, error) {
	var state core.State
	if q.Key != (core.Key{}) {
		row, err := c.session(ctx, q.Key)
		if err != nil {
			return state, err
		}
		if row != nil {
			state.Known, state.Session = true, row.session
			if q.WorkingSet {
				if state.WorkingSet, err = c.workingSet(ctx, row.id); err != nil {
					return state, err
				}
			}
		}
		provider, model := q.Provider, q.Model
		if provider == "" {
			provider = state.Session.Provider
		}
		if model == "" {
			model = state.Session.Model
		}
		if state.Learned, err = c.window(ctx, q.Key.Host, provider, model); err != nil {
			return state, err
		}
	}
	if q.Task == nil {
		return state, nil
	}
	if task := q.Task(state.Session); task != "" {
		var err error
		if state.Tasks, err = c.taskSums(ctx, task, q.TaskThreshold, ring(q.WindowTasks)); err != nil {
			return state, err
		}
		if state.Alert, _, err = c.counters(ctx); err != nil {
			return state, err
		}
	}
	return state, nil
}

// save writes changes: first what goes, then what comes.
func (c *conn) save(ctx context.Context, q core.Query, changes core.Changes) error {
	key := q.Key
	if changes.Session != nil {
		if key != (core.Key{}) && key != changes.Session.Key() {
			return core.Errorf(core.CodeInternal, "the update of one session would save another one")
		}
		key = changes.Session.Key()
	}
	if changes.Delete {
		if err := c.exec(ctx, "DELETE FROM sessions WHERE session_id = ? AND host = ?", key.SessionID, string(key.Host)); err != nil {
			return err
		}
	}
	if err := c.saveSession(ctx, key, changes); err != nil {
		return err
	}
	if changes.Learned != nil {
		if err := c.saveWindow(ctx, *changes.Learned); err != nil {
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

// saveSession writes the changes that belong to one session.
func (c *conn) saveSession(ctx context.Context, key core.Key, changes core.Changes) error {
	var id int64
	switch {
	case changes.Session != nil:
		var err error
		if id, err = c.putSession(ctx, *changes.Session); err != nil {
			return err
		}
	case len(changes.Paths)+len(changes.Samples) == 0:
		return nil
	default:
		known, err := c.row(ctx, "SELECT id FROM sessions WHERE session_id = ? AND host = ?", []any{key.SessionID, string(key.Host)}, &id)
		if err != nil {
			return err
		}
		if !known {
			return core.Errorf(core.CodeInternal, "paths or samples belong to a session that is not stored")
		}
	}
	if err := c.putPaths(ctx, id, changes.Paths); err != nil {
		return err
	}
	if err := c.putSamples(ctx, id, changes.Samples); err != nil {
		return err
	}
	if changes.Session == nil || changes.MaxSessions <= 0 {
		return nil
	}
	return c.forgetOldest(ctx, id, changes.MaxSessions)
}

// ring is the length of the task ring, for which 0 sets no bound.
func ring(windowTasks int) int {
	if windowTasks <= 0 {
		return math.MaxInt32
	}
	return windowTasks
}

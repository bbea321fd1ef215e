package telemetry

import (
	"context"
	"maps"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// count adds the compactions and the tasks that are new. Where baseline is set it only remembers them.
func (m *meter) count(ctx context.Context, baseline bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	views, err := m.Source.Sessions(ctx, core.SessionFilter{IncludeEnded: true})
	if err != nil {
		return err
	}
	tasks, _, err := m.Source.Tasks(ctx)
	if err != nil {
		return err
	}
	after := Cursor{Task: m.cursor.Task, Compactions: make(map[string]int, len(views))}
	sessions := make(map[string]core.SessionView, len(views)) // by what their tasks' ids begin with
	for _, v := range views {
		key := session.Key{Host: v.Host, SessionID: v.SessionID}
		id := m.Redact.Session(key)
		sessions[session.TurnTaskPrefix(key)] = v
		after.Compactions[id] = v.Compactions
		if more := v.Compactions - m.cursor.Compactions[id]; more > 0 && !baseline {
			m.compactions.Add(ctx, int64(more), m.with(v))
		}
	}
	for _, task := range tasks {
		if task.Seq <= after.Task {
			continue
		}
		if !baseline {
			if m.Now().Sub(task.At) < m.Settle {
				break
			}
			m.tasks.Record(ctx, int64(task.Tokens), m.with(sessions[task.ID[:strings.LastIndexByte(task.ID, '#')+1]]))
		}
		after.Task = task.Seq
	}
	if len(tasks) > 0 && after.Task > tasks[len(tasks)-1].Seq { // of a store that this one has replaced
		after.Task = tasks[len(tasks)-1].Seq
	}
	changed := after.Task != m.cursor.Task || !maps.Equal(after.Compactions, m.cursor.Compactions)
	m.cursor = after
	if changed && m.Counted != nil {
		m.Counted(after)
	}
	return nil
}

// with returns the attributes of a session, and what its exemplar is. The zero value is a task that a caller recorded.
func (m *meter) with(v core.SessionView) metric.MeasurementOption {
	all := m.attributes(v.Host, v.Provider, v.Model).ToSlice()
	if v.SessionID != "" {
		all = append(all, m.exemplar(v))
	}
	return metric.WithAttributeSet(attribute.NewSet(all...))
}

package push

import (
	"context"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Local is the Source that this machine's store is.
type Local struct {
	Service *core.Service
	Archive core.Archive
}

// Changed implements Source.
func (l Local) Changed(ctx context.Context, since int64) (core.ChangeSet, error) {
	return l.Service.Changed(ctx, since)
}

// Sessions returns the sessions that match f as clients see them.
func (l Local) Sessions(ctx context.Context, f core.SessionFilter) ([]core.SessionView, error) {
	return l.Service.Sessions(ctx, f)
}

// SamplesFrom implements Source.
func (l Local) SamplesFrom(ctx context.Context, key session.Key, from int64) ([]core.NumberedSample, error) {
	return l.Archive.SamplesFrom(ctx, key, from)
}

// Tasks implements Source.
func (l Local) Tasks(ctx context.Context) ([]core.NumberedTask, fleet.TrimCount, error) {
	figures, err := l.Archive.Fleet(ctx, 1) // one task, since all of them come below
	if err != nil {
		return nil, fleet.TrimCount{}, err
	}
	tasks, err := l.Archive.Tasks(ctx, l.Service.Config("").Metrics.WindowTasks)
	return tasks, figures.Trim, err
}

// Watch implements Source.
func (l Local) Watch(ctx context.Context) <-chan struct{} { return l.Archive.Watch(ctx) }

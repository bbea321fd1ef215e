package core

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
)

// ChangeSet is a Feed as clients see it.
type ChangeSet struct {
	Feed
	Views   []SessionView           // of Feed.Sessions, one each, in their order
	Learned []session.LearnedWindow // every learned window; where these change, so may the views of sessions that nobody saved
}

// Changed returns what has changed since a revision, which an earlier ChangeSet returned. Revision 0 is before all changes.
func (s *Service) Changed(ctx context.Context, since int64) (ChangeSet, error) {
	feed, err := s.seen().Changed(ctx, since)
	if err != nil {
		return ChangeSet{}, err
	}
	learned, err := s.Store.Windows(ctx)
	if err != nil {
		return ChangeSet{}, err
	}
	return ChangeSet{feed, s.views(feed.Sessions, learned), learned}, nil
}

// Watch wakes whoever may want to ask Changed, as Store.Watch.
func (s *Service) Watch(ctx context.Context) <-chan struct{} { return s.seen().Watch(ctx) }

// HostGone reports whether a host's process is known to be gone; pid 0 is unknown.
func (s *Service) HostGone(pid int) bool {
	return pid > 0 && s.ProcessLives != nil && !s.ProcessLives(pid)
}

// Alert returns the alert that a gate tells of.
func (s *Service) Alert(ctx context.Context, gate fleet.AlertGate) (fleet.Alert, error) {
	cfg := s.Config("").Metrics
	figures, err := s.Store.Fleet(ctx, cfg.WindowTasks)
	return fleet.Alert{Rate: gate.Rate, Threshold: cfg.AlertRate, Tasks: len(figures.Tokens)}, err
}

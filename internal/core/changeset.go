package core

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
)

// ChangeSet is a Feed in the form for clients.
type ChangeSet struct {
	Feed
	Views   []SessionView           // one view of each of Feed.Sessions, in their order
	Learned []session.LearnedWindow // every learned window; a change of these may change the views of sessions that were not saved
}

// Changed returns the changes since a revision, which comes from an earlier ChangeSet. Revision 0 is before all changes.
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

// Watch sends a signal after changes, as Store.Watch. The receiver then calls Changed.
func (s *Service) Watch(ctx context.Context) <-chan struct{} { return s.seen().Watch(ctx) }

// HostGone reports whether a host's process is known to have ended. pid is a HostPID of a session.
func (s *Service) HostGone(pid int) bool {
	return pid == session.NoProcess || pid > 0 && s.ProcessLives != nil && !s.ProcessLives(pid)
}

// Alert returns the alert of a gate.
func (s *Service) Alert(ctx context.Context, gate fleet.AlertGate) (fleet.Alert, error) {
	cfg := s.Config("").Metrics
	figures, err := s.Store.Fleet(ctx, cfg.WindowTasks)
	return fleet.Alert{Rate: gate.Rate, Threshold: cfg.AlertRate, Tasks: len(figures.Tokens)}, err
}

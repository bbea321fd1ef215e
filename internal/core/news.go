package core

import (
	"context"
	"time"
)

// News is a Feed as clients see it.
type News struct {
	Feed
	Views   []SessionView   // of Feed.Sessions, one each, in their order
	Learned []LearnedWindow // every learned window; where these change, so may the views of sessions that nobody saved
}

// Changed returns what has changed since a revision, which earlier News told; 0 is before everything.
func (s *Service) Changed(ctx context.Context, since int64) (News, error) {
	feed, err := s.Store.Changed(ctx, since)
	if err != nil {
		return News{}, err
	}
	learned, err := s.Store.Windows(ctx)
	if err != nil {
		return News{}, err
	}
	return News{feed, s.views(feed.Sessions, learned), learned}, nil
}

// Watch wakes whoever may want to ask Changed, as Store.Watch.
func (s *Service) Watch(ctx context.Context) <-chan struct{} { return s.Store.Watch(ctx) }

// HostGone reports whether a host's process is known to be gone; pid 0 is unknown.
func (s *Service) HostGone(pid int) bool {
	return pid > 0 && s.ProcessLives != nil && !s.ProcessLives(pid)
}

// Alert returns the alert that a gate tells of.
func (s *Service) Alert(ctx context.Context, gate AlertGate) (Alert, error) {
	cfg := s.Config("").Metrics
	fleet, err := s.Store.Fleet(ctx, cfg.WindowTasks)
	return Alert{Rate: gate.Rate, Threshold: cfg.AlertRate, Tasks: len(fleet.Tokens)}, err
}

// ChangesAt returns when clients come to see the session differently though nothing happens: it counts as idle, or its
// compaction as failed. The zero time is never.
func (s Session) ChangesAt(now time.Time) time.Time {
	var next time.Time
	if s.EndedAt.IsZero() && now.Sub(s.UpdatedAt) <= IdleAfter {
		next = s.UpdatedAt.Add(IdleAfter)
	}
	if opened := s.Compaction.Expire(now).OpenedAt; !opened.IsZero() {
		if fails := opened.Add(openingExpires); next.IsZero() || fails.Before(next) {
			next = fails
		}
	}
	return next
}

package core

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
)

// The methods below serve hosts that report sessions by calls instead of hooks. The event of each call is about a stored session; none
// of them creates one.

// Compacting records that a host is about to compact a session, and returns the working context for the summary.
func (s *Service) Compacting(ctx context.Context, key session.Key) (session.WorkingContext, error) {
	stored, err := s.find(ctx, key)
	if err != nil {
		return session.WorkingContext{}, err
	}
	ev := session.Event{Kind: session.CompactionOpened, Name: "session/compacting", Asked: true, Accepts: []session.EffectKind{session.CompactionContext}}
	out, err := s.handleFor(ctx, stored, ev)
	if err != nil || len(out.Effects) == 0 {
		return session.WorkingContext{}, err
	}
	return out.Effects[0].Working, nil
}

// Compacted records that a host compacted a session; b.ID identifies a repeat. The caller's clock may be coarse or wrong, so a time
// before the opening or in the future is moved to the nearest possible time. It returns the session and the paths that the agent has to
// be told again.
func (s *Service) Compacted(ctx context.Context, key session.Key, b session.Boundary) (SessionView, []string, error) {
	stored, err := s.find(ctx, key)
	if err != nil {
		return SessionView{}, nil, err
	}
	if now := s.Now(); !b.At.IsZero() {
		opened := stored.Compaction.Expire(now).OpenedAt
		if b.At.Before(opened) {
			b.At = opened
		}
		if b.At.After(now) {
			b.At = now
		}
	}
	out, err := s.handleFor(ctx, stored, session.Event{Kind: session.CompactionDone, Name: "session/compacted", CompactedBy: &b})
	return out.Session, out.Lost, err
}

// Delete deletes all data of a session and reports whether there was one. A session that is known only from its host's record is not
// shown again; the record stays.
func (s *Service) Delete(ctx context.Context, key session.Key) (bool, error) {
	found, err := s.find(ctx, key)
	if coded.CodeOf(err) == coded.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	out, err := s.handleFor(ctx, found, session.Event{Kind: session.SessionDeleted, Name: "session/deleted"})
	return out.Deleted || found.Recorded && err == nil, err
}

// handleFor handles an event that a caller reports about a stored session, under the settings of the session's directory.
func (s *Service) handleFor(ctx context.Context, stored session.Session, ev session.Event) (Outcome, error) {
	ev.Host, ev.SessionID, ev.CWD = stored.Host, stored.SessionID, stored.CWD
	return s.Handle(ctx, ev)
}

package core

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/survival"
)

// Compactions returns what the host's record tells of every compaction of a session, oldest first. It reads the record each time and
// stores nothing. A session that is unknown is an error with CodeNotFound, one whose host keeps no record with CodeInvalid.
func (s *Service) Compactions(ctx context.Context, key session.Key) ([]survival.Entry, error) {
	stored, err := s.find(ctx, key)
	if err != nil {
		return nil, err
	}
	var h Historian
	if s.Historian != nil {
		h = s.Historian(stored.Host)
	}
	if h == nil {
		return nil, coded.Field("sessionId", "expected a session whose host keeps a record, got one of %s", stored.Host)
	}
	var entries []session.Entry
	err = h.History(ctx, Record{Key: stored.Key(), Path: stored.Transcript}, true, func(e session.Entry) bool {
		entries = append(entries, e)
		return ctx.Err() == nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, coded.Field("sessionId", "expected a session whose host's record is there: it was removed, or not named yet")
	}
	if err != nil {
		return nil, err
	}
	slices.Reverse(entries)
	cfg, rules := s.Config(stored.CWD).Compaction, s.rules(stored.Host)
	commands := cfg.CommandTokens
	if !rules.SummaryVisible {
		commands *= 2
	}
	return survival.Ledger(entries, rules.Tools, cfg.MaxPaths, cfg.WordTokens, commands, s.price), ctx.Err()
}

// maxLedger is how many sessions are read for a ledger of all. Each is read whole.
const maxLedger = 50

// AllCompactions returns those of the newest sessions that were compacted, at most 50 sessions, oldest first within a session. Without a
// host, they are of all hosts. Sessions without a record are left out.
func (s *Service) AllCompactions(ctx context.Context, host session.Host) ([]survival.Entry, error) {
	all, err := s.Sessions(ctx, SessionFilter{Host: host, IncludeEnded: true})
	if err != nil {
		return nil, err
	}
	list, read := []survival.Entry{}, 0
	for _, v := range all {
		if v.Compactions == 0 {
			continue
		}
		if read++; read > maxLedger {
			break
		}
		found, err := s.Compactions(ctx, session.Key{Host: v.Host, SessionID: v.SessionID})
		if code := coded.CodeOf(err); err != nil && code != coded.Invalid && code != coded.NotFound { // no record, or deleted meanwhile
			return nil, err
		}
		list = append(found, list...)
	}
	return list, nil
}

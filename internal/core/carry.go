package core

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/survival"
)

// carry reads the host's record from before a compaction. It only does so for events after a compaction.
func (s *Service) carry(ctx context.Context, ev *session.Event, stored session.Session, rules session.Rules, cfg settings.Config) {
	owed := stored.Owing(*ev, rules)
	var useless survival.Useless
	if c := stored.Compaction; s.Tally != nil && (owed != session.OwedNothing || c.Lost != nil || c.Frozen != nil) {
		useless = s.Tally().Useless()
	}
	ev.WithoutPaths = useless.Paths
	if owed == session.OwedNothing || cfg.Compaction.WordTokens == 0 && cfg.Compaction.CommandTokens == 0 {
		return
	}
	var until time.Time
	if ev.Kind != session.CompactionDone && stored.Compaction.Owed != session.OwedNothing {
		until = stored.Compaction.DoneAt
	}
	past, ok := s.past(ctx, Record{Key: ev.Key(), Path: cmp.Or(ev.Transcript, stored.Transcript)}, until)
	if !ok {
		return
	}
	now, count := s.Now(), s.price
	carried := &session.Carried{For: owed, SummarySeen: past.Summary() != ""}
	scope, words := survival.Earlier, cfg.Compaction.WordTokens
	switch {
	case owed == session.OwedEnded:
		scope, words = survival.Ended, words-stored.Compaction.Spent
	case carried.SummarySeen:
		scope = survival.All
	}
	carried.Words = past.Words(scope, words, count, now)
	for _, q := range carried.Words {
		carried.WordTokens += count(q.Line()) + 1
	}
	if owed == session.OwedAll && !useless.Commands {
		budget := cfg.Compaction.CommandTokens
		if !rules.SummaryVisible {
			budget *= 2
		}
		carried.Commands = past.Chosen(float64(budget), now)
	}
	carried.Recallable = owed == session.OwedAll && s.Asks != nil && s.Asks(ev.Host)
	ev.Carried = carried
}

// past reads a record backwards. It returns false if the host keeps none.
func (s *Service) past(ctx context.Context, r Record, until time.Time) (survival.Past, bool) {
	if s.Historian == nil {
		return survival.Past{}, false
	}
	h := s.Historian(r.Host)
	if h == nil {
		return survival.Past{}, false
	}
	c := survival.Collector{Until: until, Tools: s.rules(r.Host).Tools}
	err := h.History(ctx, r, false, func(e session.Entry) bool {
		c.Add(e)
		return true
	})
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.Log.Warn("record not read back", "host", r.Host, "session", r.SessionID, "error", err)
		}
		return survival.Past{}, false
	}
	return c.Past(), true
}

// price returns how many tokens a text takes, an estimate where nothing counts.
func (s *Service) price(text string) int {
	if s.Counter == nil {
		return int(survival.Cost(len(text)))
	}
	return s.Counter.Count(text)
}

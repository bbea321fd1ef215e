package core

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// maxBreakdownBytes is how much text of a conversation is counted exactly for a breakdown, the newest first: more than the
// largest windows hold.
const maxBreakdownBytes = 16 << 20

// SessionBreakdown returns one session with its Breakdown. It reads the transcript back to the last compaction, which may
// take seconds; progress is told how many bytes it has read and how many there are, and may be nil.
func (s *Service) SessionBreakdown(ctx context.Context, key Key, progress func(done, total int64)) (SessionDetail, error) {
	key, err := s.Resolve(ctx, key)
	if err != nil {
		return SessionDetail{}, err
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	var st State // session and calibration as of one moment
	if err := s.Store.Update(ctx, Query{Key: key, WorkingSet: true, Calibration: Encoding}, func(stored State) Changes {
		st = stored
		return Changes{}
	}); err != nil {
		return SessionDetail{}, err
	}
	learned, err := s.Store.Windows(ctx)
	if err != nil {
		return SessionDetail{}, err
	}
	view := SessionDetail{SessionView: s.views([]Snapshot{st.Snapshot}, learned)[0]}
	b, why, err := s.breakdown(ctx, st, progress)
	if why != "" {
		b = Breakdown{Why: why, Parts: []Part{}, Files: []FilePart{}}
	}
	view.Breakdown = &b
	return view, err
}

// breakdown returns what fills a session's window, or why nobody can tell.
func (s *Service) breakdown(ctx context.Context, st State, progress func(done, total int64)) (b Breakdown, why string, err error) {
	e, cfg, rules := st.Session, s.Config(st.Session.CWD), s.rules(st.Session.Host)
	scanner, ok := s.Adapters[e.Host].(Scanner)
	switch {
	case !ok:
		return b, fmt.Sprintf("ctxls reads no record of conversations in %s", e.Host), nil
	case e.Transcript == "":
		return b, "the host has not named its record of the conversation yet", nil
	case !e.Gauge.Known:
		return b, "nothing has been reported of the window yet", nil
	case !e.Gauge.Reported():
		return b, "nothing has been reported since the last compaction", nil
	}
	var entries []Entry // newest first
	budget := maxBreakdownBytes
	err = scanner.Scan(ctx, e.Transcript, progress, func(en Entry) bool {
		budget = countPieces(en.Content, s.Counter, budget)
		if en.Report != nil || en.Boundary != nil || len(en.Content) > 0 {
			entries = append(entries, Entry{At: en.At, Report: en.Report, Boundary: en.Boundary, Content: en.Content})
		}
		return true
	})
	switch {
	case ctx.Err() != nil:
		return b, "", ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return b, "the host's record of the conversation is gone", nil
	case err != nil:
		s.Log.Warn("transcript not read", "host", e.Host, "session", e.SessionID, "error", err)
		return b, "the host's record of the conversation cannot be read", nil
	}
	slices.Reverse(entries)
	c := contents{e: NewEstimator(e.Provider, e.Model, st.Calibration), cwd: e.CWD, maxPathLength: cfg.Compaction.MaxPathLength, rules: rules, countsOutput: rules.CountsOutput}
	if chosen := cfg.Usage.CountOutput; chosen != nil {
		c.countsOutput = *chosen
	}
	for _, en := range upTo(entries, e.Gauge) {
		c.add(en)
	}
	if b, ok = c.breakdown(e.Gauge.Tokens); !ok {
		why = "the host has recorded no response of this size yet"
	}
	return b, why, nil
}

// upTo returns the entries without the responses that were made after a gauge's figure, and what came after them: the
// transcript may be further than the last hook. The response that the gauge shows may be dated a little later there, where
// its figure came by a hook first.
func upTo(entries []Entry, g Gauge) []Entry {
	shown := false
	for i, e := range entries {
		if e.Report == nil || !e.Report.At.After(g.At) {
			continue
		}
		tuple := e.Report.Tuple
		tuple.Output = 0
		if shown || len(g.Recent) == 0 || tuple != g.Recent[len(g.Recent)-1] {
			return entries[:i]
		}
		shown = true
	}
	return entries
}

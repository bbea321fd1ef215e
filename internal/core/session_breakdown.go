package core

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/core/session"
)

// maxBreakdownBytes bounds the text that is counted exactly for a breakdown, newest first. It is more than the largest windows hold.
const maxBreakdownBytes = 16 << 20

// SessionBreakdown returns one session with its Breakdown. It reads the transcript back to the last compaction, which may take seconds.
// progress gets the number of bytes read and of all bytes; it may be nil.
func (s *Service) SessionBreakdown(ctx context.Context, key session.Key, progress func(done, total int64)) (SessionDetail, error) {
	view, _, err := s.SessionBreakdownAndPlan(ctx, key, progress)
	return view, err
}

// SessionBreakdownAndPlan is SessionBreakdown and SessionPlan in one reading of the record. The plan is nil where the breakdown is not known.
func (s *Service) SessionBreakdownAndPlan(ctx context.Context, key session.Key, progress func(done, total int64)) (SessionDetail, *plan.Report, error) {
	st, known, err := s.loaded(ctx, key)
	if err != nil {
		return SessionDetail{}, nil, err
	}
	view, rec := SessionDetail{SessionView: known, Record: st.Session.Transcript}, NewTranscript()
	b, why, err := s.breakdown(ctx, st, progress, rec.addNewestFirst)
	view.Breakdown = &b
	switch {
	case err != nil:
		return view, nil, err
	case why != "":
		b = session.Breakdown{Why: why, Parts: []session.Part{}, Files: []session.FilePart{}}
		return view, nil, nil
	}
	report := s.planOf(rec, st, view.SessionView, b, planning{prices: plan.PricesOf(view.Provider, view.Model), keep: keepResponses})
	s.explain(ctx, st, &b)
	return view, &report, nil
}

// loaded returns all that is stored of a session, and its form for clients.
func (s *Service) loaded(ctx context.Context, key session.Key) (session.State, SessionView, error) {
	key, err := s.Resolve(ctx, key)
	if err != nil {
		return session.State{}, SessionView{}, err
	}
	st, err := s.seen().Load(ctx, Query{Key: key, WorkingSet: true, Calibration: session.Encoding})
	if err != nil {
		return session.State{}, SessionView{}, err
	}
	learned, err := s.Store.Windows(ctx)
	if err != nil {
		return session.State{}, SessionView{}, err
	}
	return st, s.views([]session.Snapshot{st.Snapshot}, learned)[0], nil
}

// breakdown returns what fills a session's window, or the reason why it is not known. also gets each entry with its texts, newest first.
// The texts are only valid during the call; the pieces remain and are counted afterwards. progress may be nil.
func (s *Service) breakdown(ctx context.Context, st session.State, progress func(done, total int64), also func(session.Entry)) (b session.Breakdown, why string, err error) {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	e := st.Session
	scan, byPath := s.scanOf(e)
	switch {
	case scan == nil:
		return b, fmt.Sprintf("ctxls reads no record of conversations in %s", e.Host), nil
	case byPath && e.Transcript == "":
		return b, "the host has not named its record of the conversation yet", nil
	case !e.Gauge.Known:
		return b, "nothing has been reported of the window yet", nil
	case !e.Gauge.Reported():
		return b, "nothing has been reported since the last compaction", nil
	}
	var entries []session.Entry // newest first
	budget, tools := maxBreakdownBytes, s.rules(e.Host).Tools
	err = scan(ctx, progress, func(en session.Entry) bool {
		also(en)
		budget = session.CountPieces(en.Content, tools, s.Counter, budget)
		if en.Report != nil || en.Boundary != nil || len(en.Content) > 0 {
			entries = append(entries, session.Entry{At: en.At, Report: en.Report, Boundary: en.Boundary, Content: en.Content})
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
	st.Rules = s.rules(e.Host)
	b, ok := session.BreakDown(st, s.Config(e.CWD), entries)
	if !ok {
		why = "the host has recorded no response of this size yet"
	}
	return b, why, nil
}

// scanFunc visits what the window of one session holds by the host's record, as Scanner.Scan does.
type scanFunc func(ctx context.Context, progress func(done, total int64), visit func(session.Entry) bool) error

// scanOf returns how the record of a session is read, nil if the host keeps none. byPath says that it takes the path of the transcript.
func (s *Service) scanOf(e session.Session) (scan scanFunc, byPath bool) {
	if scanner, ok := s.Adapters[e.Host].(Scanner); ok {
		return func(ctx context.Context, progress func(done, total int64), visit func(session.Entry) bool) error {
			return scanner.Scan(ctx, e.Transcript, progress, visit)
		}, true
	}
	if s.Historian == nil {
		return nil, false
	}
	scanner, ok := s.Historian(e.Host).(RecordScanner)
	if !ok {
		return nil, false
	}
	return func(ctx context.Context, progress func(done, total int64), visit func(session.Entry) bool) error {
		return scanner.ScanRecord(ctx, Record{Key: e.Key()}, progress, visit)
	}, false
}

// explain adds what the host's own record of the last request tells, if there is one.
func (s *Service) explain(ctx context.Context, st session.State, b *session.Breakdown) {
	reader, ok := s.Adapters[st.Session.Host].(RequestReader)
	if !ok || s.Counter == nil {
		return
	}
	r, err := reader.LastRequest(ctx, st.Session.Transcript)
	if err != nil {
		s.Log.Warn("record of requests not read", "host", st.Session.Host, "session", st.Session.SessionID, "error", err)
	}
	if r != nil {
		b.Explain(r, session.NewEstimator(st.Session.Provider, st.Session.Model, st.Calibration), s.Counter)
	}
}

// SessionDetail is a session with its Breakdown.
type SessionDetail struct {
	SessionView
	Breakdown *session.Breakdown `json:"breakdown,omitempty"` // nil if it was not asked for
	Record    string             `json:"record,omitempty"`    // the host's own record that the breakdown is of, a path; "" where the host keeps none
}

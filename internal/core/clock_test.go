package core

import (
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Within one file, the order of lines decides which is newer. So a line or a compaction with a time in the future stops
// no later figure.
func TestClocksThatWereWrong(t *testing.T) {
	w := newTestEnv()
	line := func(at time.Time, tokens int) session.Entry {
		rep := w.reported(tokens)
		rep.At = at
		return session.Entry{At: at, Report: &rep}
	}
	year := 365 * 24 * time.Hour
	batch := func(lines ...session.Entry) int {
		out := w.play(t, session.Event{Kind: session.BatchFinished, Reading: w.reading(lines...)})
		return *out.Session.Usage.Tokens
	}
	if got := batch(line(w.now.Add(year), 10_000), line(w.now, 20_000)); got != 20_000 {
		t.Errorf("in one reading: %d", got)
	}
	if got := batch(line(w.now, 30_000)); got != 30_000 {
		t.Errorf("in the next: %d", got)
	}
	boundary := session.Entry{Boundary: &session.Boundary{ID: "b", At: w.now.Add(year), PostTokens: 5_000}}
	if got := batch(boundary, line(w.now.Add(time.Minute), 40_000)); got != 40_000 || w.session().Compaction.Count != 1 {
		t.Errorf("after a compaction in the future: %d, %d compactions", got, w.session().Compaction.Count)
	}
	w.play(t, session.Event{Kind: session.CompactionOpened}, session.Event{Kind: session.CompactionDone})
	if got := batch(line(w.now.Add(-time.Minute), 190_000)); got == 190_000 {
		t.Errorf("a response from before the compaction counted")
	}
	if got := batch(line(w.now.Add(time.Minute), 50_000), line(w.now.Add(-time.Hour), 60_000)); got != 60_000 {
		t.Errorf("after it: %d", got)
	}
}

// A compaction begins under a clock that is ahead. After the clock is corrected, the compaction is over, and later
// reports count.
func TestClockPutRightAfterCompaction(t *testing.T) {
	w := newTestEnv()
	rightly := w.now
	w.now = w.now.Add(365 * 24 * time.Hour)
	w.play(t, w.at(session.BatchFinished, 150_000), session.Event{Kind: session.CompactionOpened}, session.Event{Kind: session.CompactionDone})
	w.now = rightly
	for i := range 2 {
		out := w.play(t, w.at(session.BatchFinished, 40_000+i))
		if got := out.Session.Usage; *got.Tokens != 40_000+i || !got.Exact {
			t.Errorf("report %d: %d, exact %v", i, *got.Tokens, got.Exact)
		}
	}
	boundary := session.Entry{Boundary: &session.Boundary{ID: "b", At: w.now.Add(time.Second), PostTokens: 5_000}}
	if out := w.play(t, session.Event{Kind: session.BatchFinished, Reading: w.reading(boundary)}); out.Session.Compactions != 2 || *out.Session.Usage.Tokens != 5_000 {
		t.Errorf("after the next compaction: %d compactions, %d tokens", out.Session.Compactions, *out.Session.Usage.Tokens)
	}
}

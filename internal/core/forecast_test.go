package core

import (
	"testing"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/google/go-cmp/cmp"
)

// turns plays turns that end at the given occupancies.
func (w *testEnv) turns(t testing.TB, tokens ...int) (out Outcome) {
	t.Helper()
	for _, n := range tokens {
		out = w.play(t, w.at(session.TurnFinished, n), session.Event{Kind: session.PromptSubmitted})
	}
	return out
}

func TestForecast(t *testing.T) {
	w := newTestEnv()
	if u := w.play(t, w.at(session.BatchFinished, 10_000)).Session.Usage; u.TurnsLeft != nil || u.GrowthPerTurn != nil {
		t.Fatalf("before the first turn: %v, %v", u.GrowthPerTurn, u.TurnsLeft)
	}
	u := w.turns(t, 10_000).Session.Usage // 190,000 to go, by 8,000 a turn as far as is known: 23.8
	if diff := cmp.Diff(&session.Forecast{Low: 5, Mid: 20, High: 48}, u.TurnsLeft); u.GrowthPerTurn != nil || diff != "" {
		t.Fatalf("in the first turn: %v (-want +got):\n%s", u.GrowthPerTurn, diff)
	}
	u = w.turns(t, 20_000, 32_000, 37_000).Session.Usage // 163,000 to go, by 10,000, 12,000 and 5,000: 19.3
	if diff := cmp.Diff(&session.Forecast{Low: 4, Mid: 16, High: 39}, u.TurnsLeft); *u.GrowthPerTurn != 9_000 || diff != "" {
		t.Errorf("after three turns: %d a turn (-want +got):\n%s", *u.GrowthPerTurn, diff)
	}
	w.play(t, session.Event{Kind: session.CompactionOpened}, session.Event{Kind: session.CompactionDone})
	if u = w.turns(t, 30_000).Session.Usage; *u.GrowthPerTurn != 9_000 || u.TurnsLeft.Mid != 17 {
		t.Errorf("a compaction counts as a turn: %d a turn, %d turns left", *u.GrowthPerTurn, u.TurnsLeft.Mid)
	}
	for n := range 2 * maxGrowth {
		u = w.turns(t, 31_000+1_000*n).Session.Usage
	}
	if *u.GrowthPerTurn != 1_000 {
		t.Errorf("turns long ago count: %d a turn", *u.GrowthPerTurn)
	}
	if u = w.turns(t, 200_000).Session.Usage; *u.TurnsLeft != (session.Forecast{}) {
		t.Errorf("beyond the compaction point: %+v", u.TurnsLeft)
	}
	w.play(t, session.Event{Kind: session.SessionStarted, Settings: &model.Settings{Off: true}})
	if u = w.turns(t, 171_000).Session.Usage; u.ToCompaction != nil || *u.ToRefusal != 5_923 || u.TurnsLeft == nil {
		t.Errorf("a host that never compacts: %s, %d to refusal, %+v", u.CompactionRule, *u.ToRefusal, u.TurnsLeft)
	}
}

package core

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// turns plays turns that end at the given occupancies.
func (w *world) turns(t testing.TB, tokens ...int) (out Outcome) {
	t.Helper()
	for _, n := range tokens {
		out = w.play(t, w.at(TurnFinished, n), Event{Kind: PromptSubmitted})
	}
	return out
}

func TestForecast(t *testing.T) {
	w := newWorld()
	if u := w.play(t, w.at(UsageReported, 10_000)).Session.Usage; u.TurnsLeft != nil || u.GrowthPerTurn != nil {
		t.Fatalf("before the first turn: %v, %v", u.GrowthPerTurn, u.TurnsLeft)
	}
	u := w.turns(t, 10_000).Session.Usage // 157,000 to go, by 8,000 a turn as far as is known: 19.6
	if diff := cmp.Diff(&Forecast{Low: 4, Mid: 14, High: 30}, u.TurnsLeft); u.GrowthPerTurn != nil || diff != "" {
		t.Fatalf("in the first turn: %v (-want +got):\n%s", u.GrowthPerTurn, diff)
	}
	u = w.turns(t, 20_000, 32_000, 37_000).Session.Usage // 130,000 to go, by 10,000, 12,000 and 5,000: 15.4
	if diff := cmp.Diff(&Forecast{Low: 3, Mid: 11, High: 24}, u.TurnsLeft); *u.GrowthPerTurn != 9_000 || diff != "" {
		t.Errorf("after three turns: %d a turn (-want +got):\n%s", *u.GrowthPerTurn, diff)
	}
	w.play(t, Event{Kind: CompactionOpened}, Event{Kind: CompactionDone})
	if u = w.turns(t, 30_000).Session.Usage; *u.GrowthPerTurn != 9_000 || u.TurnsLeft.Mid != 11 {
		t.Errorf("a compaction counts as a turn: %d a turn, %d turns left", *u.GrowthPerTurn, u.TurnsLeft.Mid)
	}
	for n := range 2 * maxGrowth {
		u = w.turns(t, 31_000+1_000*n).Session.Usage
	}
	if *u.GrowthPerTurn != 1_000 {
		t.Errorf("turns long ago count: %d a turn", *u.GrowthPerTurn)
	}
	if u = w.turns(t, 170_000).Session.Usage; *u.TurnsLeft != (Forecast{}) {
		t.Errorf("beyond the compaction point: %+v", u.TurnsLeft)
	}
	w.play(t, Event{Kind: SessionStarted, Limits: Limits{AutoCompactOff: true}})
	if u = w.turns(t, 171_000).Session.Usage; u.TurnsLeft != nil || u.GrowthPerTurn == nil {
		t.Errorf("a host that never compacts: %+v", u.TurnsLeft)
	}
}

// The more is left the more turns, the middle between the ends, and nothing at all before the first turn.
func TestForecastLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := Session{Turns: rapid.IntRange(0, 3).Draw(rt, "turns"), Growth: rapid.SliceOfN(rapid.IntRange(1, 50_000), 0, maxGrowth).Draw(rt, "growth")}
		tokens := rapid.IntRange(0, 1_000_000).Draw(rt, "tokens")
		f, known := s.TurnsTo(tokens)
		perTurn, knownToo := s.GrowthPerTurn()
		if known != (s.Turns > 0 || len(s.Growth) > 0) || knownToo != (len(s.Growth) > 0) {
			rt.Fatalf("known %v and %v of %d turns", known, knownToo, len(s.Growth))
		}
		if !known {
			return
		}
		more, _ := s.TurnsTo(tokens + rapid.IntRange(0, 100_000).Draw(rt, "more"))
		if f.Low < 0 || f.Low > f.Mid || f.Mid > f.High || more.Low < f.Low || more.Mid < f.Mid || more.High < f.High || knownToo && perTurn < 1 {
			rt.Fatalf("%+v for %d at %d a turn, %+v for more", f, tokens, perTurn, more)
		}
	})
}

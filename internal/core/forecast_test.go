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
	if u := w.turns(t, 10_000, 20_000, 32_000).Session.Usage; u.GrowthPerTurn != nil || u.TurnsLeft != nil {
		t.Fatalf("after two turns: %v, %v", u.GrowthPerTurn, u.TurnsLeft)
	}
	u := w.turns(t, 37_000).Session.Usage // 130,000 to go, by 10,000, 12,000 and 5,000 a turn
	if diff := cmp.Diff(&Forecast{Low: 11, Mid: 13, High: 18}, u.TurnsLeft); *u.GrowthPerTurn != 10_000 || diff != "" {
		t.Errorf("after three turns: %d a turn (-want +got):\n%s", *u.GrowthPerTurn, diff)
	}
	w.play(t, Event{Kind: CompactionOpened}, Event{Kind: CompactionDone})
	if u = w.turns(t, 30_000).Session.Usage; *u.GrowthPerTurn != 10_000 || u.TurnsLeft.Mid != 14 {
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

// The more is left the more turns, the middle between the ends, and nothing at all while there are too few turns.
func TestForecastLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := Session{Growth: rapid.SliceOfN(rapid.IntRange(1, 50_000), 0, maxGrowth).Draw(rt, "growth")}
		tokens := rapid.IntRange(0, 1_000_000).Draw(rt, "tokens")
		f, known := s.TurnsTo(tokens)
		perTurn, knownToo := s.GrowthPerTurn()
		if want := len(s.Growth) >= 3; known != want || knownToo != want {
			rt.Fatalf("known %v and %v of %d turns", known, knownToo, len(s.Growth))
		}
		if !known {
			return
		}
		more, _ := s.TurnsTo(tokens + rapid.IntRange(0, 100_000).Draw(rt, "more"))
		if f.Low < 0 || f.Low > f.Mid || f.Mid > f.High || more.Low < f.Low || more.Mid < f.Mid || more.High < f.High || perTurn < 1 {
			rt.Fatalf("%+v for %d at %d a turn, %+v for more", f, tokens, perTurn, more)
		}
	})
}

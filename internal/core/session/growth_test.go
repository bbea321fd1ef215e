package session

import (
	"testing"

	"pgregory.net/rapid"
)

// More remaining tokens give more turns. The estimate lies within its range. Before the first turn there is no forecast.
func TestForecastLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := Session{Turns: rapid.IntRange(0, 3).Draw(rt, "turns"), Growth: rapid.SliceOfN(rapid.IntRange(1, 50_000), 0, maxGrowth).Draw(rt, "growth")}
		s.Compaction.Count = rapid.IntRange(0, 1).Draw(rt, "compactions")
		tokens := rapid.IntRange(0, 1_000_000).Draw(rt, "tokens")
		rules := Rules{TurnGrowth: rapid.SampledFrom([]int{0, 16_000}).Draw(rt, "of the host")}
		f, known := s.TurnsTo(tokens, rules)
		perTurn, knownToo := s.GrowthPerTurn()
		if known != (s.Turns > 0 || len(s.Growth) > 0 || s.Compaction.Count > 0) || knownToo != (len(s.Growth) > 0) {
			rt.Fatalf("known %v and %v of %d turns", known, knownToo, len(s.Growth))
		}
		if !known {
			return
		}
		more, _ := s.TurnsTo(tokens+rapid.IntRange(0, 100_000).Draw(rt, "more"), rules)
		if f.Low < 0 || f.Low > f.Mid || f.Mid > f.High || more.Low < f.Low || more.Mid < f.Mid || more.High < f.High || knownToo && perTurn < 1 {
			rt.Fatalf("%+v for %d at %d a turn, %+v for more", f, tokens, perTurn, more)
		}
	})
}

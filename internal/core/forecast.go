package core

import (
	"math"
	"slices"
)

// minGrowth is how many turns must have been seen before anything is forecast from them.
const minGrowth = 3

// GrowthPerTurn returns the median of what recent turns added, in tokens, and false while there are too few to say.
func (s Session) GrowthPerTurn() (int, bool) {
	if len(s.Growth) < minGrowth {
		return 0, false
	}
	return int(math.Round(growthQuantile(s.Growth, 0.5))), true
}

// TurnsTo returns in how many more turns like the recent ones as many tokens will have come: in the middle at their median,
// at least and at most at their quartiles. It returns false while there are too few turns to say.
func (s Session) TurnsTo(tokens int) (Forecast, bool) {
	if len(s.Growth) < minGrowth {
		return Forecast{}, false
	}
	turns := func(share float64) float64 { return float64(tokens) / math.Max(growthQuantile(s.Growth, share), 1) }
	return Forecast{
		Low:  int(math.Floor(turns(0.75))),
		Mid:  int(math.Round(turns(0.5))),
		High: int(math.Ceil(turns(0.25))),
	}, true
}

// growthQuantile returns a quantile of what turns added, interpolated between neighbours.
func growthQuantile(growth []int, share float64) float64 {
	sorted := slices.Sorted(slices.Values(growth))
	at := share * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return float64(sorted[below]) + (at-float64(below))*float64(sorted[above]-sorted[below])
}

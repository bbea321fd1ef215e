package session

import (
	"cmp"
	"math"
)

// The parameters of the forecast, for 494 forecasts in 45 sessions of entireio/cli (see claudeCosts). In these, the real number of turns
// divided by the stated one was 1.1 (median; 10th to 90th percentile 0.3 to 2.6), and 89 of 100 were in the stated range. The median of
// the past turns would give far too many turns, since few turns bring most of the growth.
const (
	priorTurnCount  = 4     // the weight of the prior, in turns
	priorTurnGrowth = 8_000 // tokens of each of those turns, unless the host's rules have another figure
	middleShare     = 0.85  // of the mean: the median time lies before the mean
	lowShare        = 0.25
	highShare       = 2
)

// GrowthPerTurn returns the average growth of recent turns, in tokens, and false before the first turn has ended.
func (s Session) GrowthPerTurn() (int, bool) {
	if len(s.Growth) == 0 {
		return 0, false
	}
	return int(math.Round(float64(sum(s.Growth)) / float64(len(s.Growth)))), true
}

// TurnsTo returns the number of turns, at the recent growth, until that many tokens are added. It returns false before the first turn.
// A session that was compacted had a turn, although the part of its record that is read may begin after it.
func (s Session) TurnsTo(tokens int, rules Rules) (Forecast, bool) {
	if s.Turns == 0 && len(s.Growth) == 0 && s.Compaction.Count == 0 {
		return Forecast{}, false
	}
	prior := priorTurnCount * cmp.Or(rules.TurnGrowth, priorTurnGrowth)
	turns := float64(tokens) * float64(len(s.Growth)+priorTurnCount) / float64(sum(s.Growth)+prior)
	return Forecast{
		Low:  int(math.Floor(lowShare * turns)),
		Mid:  int(math.Round(middleShare * turns)),
		High: int(math.Ceil(highShare * turns)),
	}, true
}

func sum(numbers []int) (total int) {
	for _, n := range numbers {
		total += n
	}
	return total
}

// Forecast is the number of remaining turns.
type Forecast struct {
	Low  int `json:"low"`  // at the least
	Mid  int `json:"mid"`  // probably
	High int `json:"high"` // at the most
}

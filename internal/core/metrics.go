package core

import (
	"math"
	"slices"
	"time"
)

// Alert says that too many recent tasks exceed the threshold.
type Alert struct {
	Rate      float64 `json:"rate"`      // share of exceeding tasks, 0–1
	Threshold float64 `json:"threshold"` // the rate above which it fires
	Tasks     int     `json:"tasks"`     // how many tasks the rate is of
}

// Record returns the sums after a task of the given tokens is recorded: a repeat keeps the larger figure, and a new one
// makes the oldest fall out of a full ring.
func (s TaskSums) Record(tokens, threshold int) TaskSums {
	exceeds := tokens > threshold
	switch {
	case s.IsRecorded && exceeds && s.Recorded <= threshold:
		s.Exceeding++
	case s.IsRecorded:
	default:
		if s.Full && s.OldestExceeds {
			s.Exceeding--
		}
		if !s.Full {
			s.Tasks++
		}
		if exceeds {
			s.Exceeding++
		}
	}
	s.IsRecorded, s.Recorded = true, max(s.Recorded, tokens)
	return s
}

// Rate returns the share of exceeding tasks, 0–1; 0 for none at all.
func (s TaskSums) Rate() float64 {
	if s.Tasks == 0 {
		return 0
	}
	return float64(s.Exceeding) / float64(s.Tasks)
}

// Due returns the alert that the sums call for: the rate is strictly above the configured one and the last alert lies far
// enough back. A clock that was set back further than the interval does not silence it.
func (g AlertGate) Due(s TaskSums, cfg MetricsConfig, now time.Time) (Alert, bool) {
	// Counting instead of dividing: exactly a tenth is not more than 0.10, whatever the rounding of either.
	if float64(s.Exceeding) <= cfg.AlertRate*float64(s.Tasks)+1e-9 {
		return Alert{}, false
	}
	since := now.Sub(g.At)
	if !g.At.IsZero() && since < cfg.AlertInterval() && since > -cfg.AlertInterval() {
		return Alert{}, false
	}
	return Alert{Rate: s.Rate(), Threshold: cfg.AlertRate, Tasks: s.Tasks}, true
}

// ContextOptimizationReport is the fleet's figures over the last tasks. Tokens throughout; an empty ring gives zeros.
type ContextOptimizationReport struct {
	P90ExceedanceRate float64    `json:"p90ExceedanceRate"` // share of tasks above ThresholdTokens, 0–1; at most 0.10 means that 90 % stay below
	AverageTokens     int        `json:"averageTokens"`     // of the tasks covered
	TrimOperations    int        `json:"trimOperations"`    // trims that removed or cleared something
	Tasks             int        `json:"tasks"`             // how many tasks the figures cover
	WindowTasks       int        `json:"windowTasks"`       // how many tasks the figures cover at most
	ThresholdTokens   int        `json:"thresholdTokens"`   // the size above which a task counts as too large
	P50Tokens         int        `json:"p50Tokens"`         // half of the tasks had at most this many
	P90Tokens         int        `json:"p90Tokens"`         // 90 % of them
	P99Tokens         int        `json:"p99Tokens"`         // 99 % of them
	MaxTokens         int        `json:"maxTokens"`         // the largest task
	TrimmedTokens     int        `json:"trimmedTokens"`     // what those trims saved
	Since             *time.Time `json:"since"`             // the oldest task covered; null for none
}

// Report works out the figures.
func (f Fleet) Report(cfg MetricsConfig) ContextOptimizationReport {
	r := ContextOptimizationReport{WindowTasks: cfg.WindowTasks, ThresholdTokens: cfg.ThresholdTokens,
		TrimOperations: f.Trim.Operations, TrimmedTokens: f.Trim.Tokens, Tasks: len(f.Tokens)}
	if len(f.Tokens) == 0 {
		return r
	}
	sorted := slices.Sorted(slices.Values(f.Tokens))
	sum, exceeding := 0, 0
	for _, n := range sorted {
		sum += n
		if n > cfg.ThresholdTokens {
			exceeding++
		}
	}
	// The nearest rank: the smallest figure that at least that share of tasks does not exceed.
	rank := func(share float64) int { return sorted[max(int(math.Ceil(share*float64(len(sorted))))-1, 0)] }
	r.P90ExceedanceRate = float64(exceeding) / float64(len(sorted))
	r.AverageTokens = int(math.Round(float64(sum) / float64(len(sorted))))
	r.P50Tokens, r.P90Tokens, r.P99Tokens, r.MaxTokens = rank(0.50), rank(0.90), rank(0.99), sorted[len(sorted)-1]
	if !f.Since.IsZero() {
		r.Since = &f.Since
	}
	return r
}

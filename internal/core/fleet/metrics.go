package fleet

import (
	"math"
	"slices"
	"time"

	"github.com/ctxls/ctxls/internal/core/settings"
)

// ContextOptimizationReport is the fleet figures over the last tasks. Figures are tokens; an empty ring gives zeros.
type ContextOptimizationReport struct {
	P90ExceedanceRate float64    `json:"p90ExceedanceRate"` // share of tasks above ThresholdTokens, 0–1; at most 0.10 means that 90 % stay below
	AverageTokens     int        `json:"averageTokens"`     // of the tasks covered
	TrimOperations    int        `json:"trimOperations"`    // trims that removed or cleared something
	Tasks             int        `json:"tasks"`             // number of covered tasks
	WindowTasks       int        `json:"windowTasks"`       // maximum number of covered tasks
	ThresholdTokens   int        `json:"thresholdTokens"`   // the size above which a task counts as too large
	P50Tokens         int        `json:"p50Tokens"`         // half of the tasks had at most this many
	P90Tokens         int        `json:"p90Tokens"`         // 90 % of them
	P99Tokens         int        `json:"p99Tokens"`         // 99 % of them
	MaxTokens         int        `json:"maxTokens"`         // the largest task
	TrimmedTokens     int        `json:"trimmedTokens"`     // what those trims saved
	Since             *time.Time `json:"since"`             // the oldest covered task; null without tasks
}

// Report computes the figures.
func (f Fleet) Report(cfg settings.MetricsConfig) ContextOptimizationReport {
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

// TrimCount counts what trimming saved.
type TrimCount struct {
	Operations int // trims that removed or cleared something
	Tokens     int // tokens that they saved
}

// Fleet is the data behind the figures across all sessions.
type Fleet struct {
	Tokens []int // one entry for each task in the ring, newest first
	Since  time.Time
	Trim   TrimCount
	Alert  AlertGate
}

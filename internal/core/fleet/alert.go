package fleet

import (
	"time"

	"github.com/ctxls/ctxls/internal/core/settings"
)

// Task is one unit of agent work whose context is recorded for the fleet figures.
type Task struct {
	ID     string
	Tokens int
	At     time.Time
}

// TaskSums are what deciding about an alert needs to know of the ring before a task is recorded.
type TaskSums struct {
	Tasks, Exceeding int
	Recorded         int  // tokens already recorded for the task of the query
	IsRecorded       bool // the task of the query is in the ring
	OldestExceeds    bool // the ring is full and the entry that would fall out is one of Exceeding
	Full             bool // recording a new task makes the oldest fall out
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

// AlertGate keeps the fleet alert from repeating, across all processes.
type AlertGate struct {
	At   time.Time // when it last fired; zero is never
	Rate float64   // the rate it told, 0–1
}

// Due returns the alert that the sums call for: the rate is strictly above the configured one and the last alert lies far
// enough back. A clock that was set back further than the interval does not silence it.
func (g AlertGate) Due(s TaskSums, cfg settings.MetricsConfig, now time.Time) (Alert, bool) {
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

// Alert says that too many recent tasks exceed the threshold.
type Alert struct {
	Rate      float64 `json:"rate"`      // share of exceeding tasks, 0–1
	Threshold float64 `json:"threshold"` // the rate above which it fires
	Tasks     int     `json:"tasks"`     // how many tasks the rate is of
}

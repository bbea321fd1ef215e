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

// TaskSums are the sums over the ring that decide about an alert, from before a task is recorded.
type TaskSums struct {
	Tasks, Exceeding int
	Recorded         int  // tokens already recorded for the query's task
	IsRecorded       bool // the query's task is in the ring
	OldestExceeds    bool // the ring is full, and the oldest entry is one of Exceeding
	Full             bool // a new task drops the oldest one
}

// Record returns the sums after a task of the given tokens was recorded. A repeat keeps the larger figure, and a new task drops the
// oldest one of a full ring.
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

// Rate returns the share of exceeding tasks, 0–1; 0 without tasks.
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

// Due returns the alert if the rate is above the configured one and the last alert was long enough ago. A clock that was set back by
// more than the interval does not suppress it.
func (g AlertGate) Due(s TaskSums, cfg settings.MetricsConfig, now time.Time) (Alert, bool) {
	// Compare counts instead of dividing: exactly a tenth is not more than 0.10, whatever the rounding.
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
	Tasks     int     `json:"tasks"`     // the number of tasks behind the rate
}

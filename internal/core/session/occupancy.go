package session

import (
	"slices"
	"time"

	"github.com/ctxls/ctxls/internal/core/settings"
)

// maxRecentTuples is the number of responses that a gauge remembers. A status line is at most one or two responses late.
const maxRecentTuples = 16

// Occupancy returns the tokens in the window by the report, under the user's choice of what counts.
func (rep Report) Occupancy(c settings.UsageConfig, rules Rules) int {
	tokens := rep.Tokens
	if !c.CountCacheWrites {
		tokens -= rep.Tuple.CacheWrite
	}
	if c.CountOutput != nil && *c.CountOutput != rules.CountsOutput {
		if *c.CountOutput {
			tokens += rep.Tuple.Output
		} else {
			tokens -= rep.Tuple.Output
		}
	}
	return max(tokens, 0)
}

// dated returns a report with the time of its arrival if it has no time. Only a status line has none.
func (rep Report) dated(now time.Time) Report {
	if rep.At.IsZero() && rep.Provenance == ProvenanceReported {
		rep.At = now
	}
	return rep
}

// Observe returns the gauge after a report of the given occupancy, and whether the report counted. Reports from before since, the end of
// the last compaction, never count. Nor do reports older than the one that the gauge shows.
//
// A report without a time (a status line) describes the response whose tuple it repeats. If its tuple is new, it is ahead of the
// transcript until the next report from there. Without a tuple, it only counts if nothing better is known.
func (g Gauge) Observe(rep Report, tokens int, since, now time.Time) (Gauge, bool) {
	if rep.Tokens <= 0 {
		return g, false // a placeholder: unknown, not empty
	}
	timeless := rep.At.IsZero()
	at, tuple := rep.At, rep.Tuple
	tuple.Output = 0 // grows while the answer is streamed
	switch {
	case timeless && (slices.Contains(g.Recent, tuple) || tuple.IsZero() && g.Known):
		return g, false
	case timeless:
		at = now
	case !at.After(since):
		return g, false
	case g.Known && g.Provenance != ProvenanceHost && at.Before(g.At):
		return g, false
	}
	if !tuple.IsZero() && (len(g.Recent) == 0 || g.Recent[len(g.Recent)-1] != tuple) {
		g.Recent = append(slices.Clone(g.Recent), tuple)
		g.Recent = g.Recent[max(0, len(g.Recent)-maxRecentTuples):]
	}
	g = Gauge{Known: true, Tokens: tokens, Provenance: rep.Provenance, At: at, Recent: g.Recent}
	if timeless {
		g.Appended = rep.Tuple.Output // the status line has no figures about later content
	}
	return g, true
}

// Estimate returns the gauge with an estimated occupancy. below and above are its possible errors, in tokens.
func (g Gauge) Estimate(tokens, below, above int, at time.Time) Gauge {
	return Gauge{Known: true, Tokens: tokens, Below: below, Above: above, Provenance: ProvenanceEstimate, At: at, Recent: g.Recent}
}

// Projected returns the current tokens in the window, including the estimate of the appended content.
func (g Gauge) Projected() int { return max(g.Tokens+g.Appended, 0) }

// Band returns the range of Projected, and false if Projected contains no estimate.
func (g Gauge) Band() (Band, bool) {
	if g.Reported() && g.Appended == 0 {
		return Band{}, false
	}
	responses := 1
	if g.Behind {
		responses = 2
	}
	below, above := Margin(float64(g.Appended), responses)
	p := g.Projected()
	return Band{max(p-below-g.Below, 0), p + above + g.Above}, true
}

// Forget returns the gauge after its figure became invalid and no other is known.
func (g Gauge) Forget() Gauge { return Gauge{Recent: g.Recent} }

// Reported reports whether the gauge shows a figure from outside ctxls. Models only get such figures.
func (g Gauge) Reported() bool { return g.Known && g.Provenance != ProvenanceEstimate }

// Band is a range of tokens.
type Band struct {
	Low  int `json:"low"`  // the least
	High int `json:"high"` // the most
}

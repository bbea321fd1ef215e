package session

import (
	"slices"
	"time"

	"github.com/ctxls/ctxls/internal/core/settings"
)

// maxRecentTuples is how many responses a gauge remembers. A status line is at most a response or two late.
const maxRecentTuples = 16

// Occupancy returns what the report says the window held, in tokens, under the user's choice of what counts.
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

// dated returns a report that an adapter sent with the time of its coming, where it has none. Only a status line goes
// without.
func (rep Report) dated(now time.Time) Report {
	if rep.At.IsZero() && rep.Provenance == ProvenanceReported {
		rep.At = now
	}
	return rep
}

// Observe returns the gauge after a report of the given occupancy, and whether the report counted. Reports from before
// since, the end of the last compaction, never do; neither do older ones than what the gauge shows.
//
// A report without a time (a status line) describes the response whose tuple it repeats. With a tuple that is new it is
// ahead of the transcript, until the transcript says something again. Without even a tuple it only helps where nothing
// better is known.
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
		g.Appended = rep.Tuple.Output // all that a status line tells of what came after
	}
	return g, true
}

// Estimate returns the gauge when nothing is known but a guess of its occupancy, which may be so much too high (below) or
// too low (above), in tokens.
func (g Gauge) Estimate(tokens, below, above int, at time.Time) Gauge {
	return Gauge{Known: true, Tokens: tokens, Below: below, Above: above, Provenance: ProvenanceEstimate, At: at, Recent: g.Recent}
}

// Projected returns what the window holds by now, in tokens, with the estimate of what was appended.
func (g Gauge) Projected() int { return max(g.Tokens+g.Appended, 0) }

// Band returns the range that Projected should lie in, and false where there is nothing estimated in it.
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

// Forget returns the gauge when what it showed no longer holds and nobody knows what does.
func (g Gauge) Forget() Gauge { return Gauge{Recent: g.Recent} }

// Reported reports whether the gauge shows a figure that did not come from ctxls itself: the only kind a model is told.
func (g Gauge) Reported() bool { return g.Known && g.Provenance != ProvenanceEstimate }

// Band is a range of tokens.
type Band struct {
	Low  int `json:"low"`  // the least
	High int `json:"high"` // the most
}

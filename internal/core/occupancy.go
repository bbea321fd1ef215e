package core

import (
	"slices"
	"time"
)

// maxRecentTuples is how many responses a gauge remembers. A status line is at most a response or two late.
const maxRecentTuples = 4

// Occupancy returns what the report says the window held, in tokens, under the user's choice of what counts.
func (c UsageConfig) Occupancy(rep Report, rules Rules) int {
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
	g.Known, g.Tokens, g.Provenance, g.At = true, tokens, rep.Provenance, at
	g.Appended, g.Behind = 0, false
	return g, true
}

// Estimate returns the gauge when nothing is known but a guess of its occupancy.
func (g Gauge) Estimate(tokens int, at time.Time) Gauge {
	g.Known, g.Tokens, g.Provenance, g.At = true, tokens, ProvenanceEstimate, at
	g.Appended, g.Behind = 0, false
	return g
}

// Forget returns the gauge when what it showed no longer holds and nobody knows what does.
func (g Gauge) Forget() Gauge { return Gauge{Recent: g.Recent} }

// Reported reports whether the gauge shows a figure that did not come from ctxls itself: the only kind a model is told.
func (g Gauge) Reported() bool { return g.Known && g.Provenance != ProvenanceEstimate }

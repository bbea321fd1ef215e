package main

import (
	"slices"
	"time"

	"github.com/ctxls/ctxls/internal/core/plan"
)

// economy is what contexts cost at the cache, in tokens of plain input: as they were, with cuts at once whenever something can go, with
// those that ctxls advises, and with those of an oracle that knows when the context ends.
type economy struct {
	plain, eager, advised, oracle float64
	contexts, cuts                int
}

// ledger is one context with its costs.
type ledger struct {
	recording
	prices plan.Prices
	totals []int  // tokens of each request without cuts
	cold   []bool // the cache had expired before it
	found  []plan.Found
}

func newLedger(r recording) ledger {
	l := ledger{recording: r, prices: plan.PricesOf("anthropic", r.model)}
	for i, req := range r.requests {
		total := r.before
		for _, p := range r.parts[:req.parts] {
			total += p.Tokens
		}
		l.totals = append(l.totals, total)
		l.cold = append(l.cold, i == 0 || req.at.Sub(r.requests[i-1].at) > time.Duration(l.prices.TTLSeconds)*time.Second)
		l.found = append(l.found, r.planAt(i, nil))
	}
	return l
}

// plain returns what the context costs without cuts.
func (l *ledger) plain() (cost float64) {
	for i, total := range l.totals {
		held := 0
		if i > 0 && !l.cold[i] {
			held = l.totals[i-1]
		}
		cost += float64(held)*l.prices.CacheRead + float64(total-held)*l.prices.CacheWrite
	}
	return cost
}

// play returns what the context costs with the cuts that choose makes before each request, and how many there were. What is cut stays cut.
func (l *ledger) play(choose func(i int, found plan.Found) []plan.Item) (cost float64, cuts int) {
	cut := map[int]bool{}
	last := 0 // tokens of the last request
	for i, total := range l.totals {
		found := l.planAt(i, cut)
		total = found.Tokens
		held := last
		if l.cold[i] {
			held = 0
		}
		if items := choose(i, found); len(items) > 0 {
			cuts++
			priced := found.Cost(items, plan.Situation{Prices: l.prices})
			total -= priced.Freed
			held = min(held, total-priced.RewrittenTokens)
			for _, it := range items {
				cut[it.Part] = true
			}
		}
		cost += float64(held)*l.prices.CacheRead + float64(total-held)*l.prices.CacheWrite
		last = total
	}
	return cost, cuts
}

// advised chooses as a host does that follows ctxls.
func (l *ledger) advised(i int, found plan.Found) []plan.Item {
	s := plan.Situation{Prices: l.prices, Now: l.requests[i].at}
	if i > 0 {
		s.LastResponse = l.requests[i-1].at
	}
	return found.Best(s).Items
}

// point is a cut that the oracle may make: of all items of a plan from a place on.
type point struct {
	request, from int // from is an index among the parts
}

// oracle returns a lower bound of what the context can cost with cuts of this kind, by dynamic programming over all of them: it knows
// how many requests follow, and which of them find the cache cold. Items before the place of a cut count as still there for the next.
func (l *ledger) oracle() float64 {
	n := len(l.totals)
	worth := make([]float64, n+1) // what a token that is gone before request i saves from then on
	for i := n - 1; i >= 0; i-- {
		price := l.prices.CacheRead
		if l.cold[i] {
			price = l.prices.CacheWrite
		}
		worth[i] = worth[i+1] + price
	}
	points := l.points()
	best := make([]float64, len(points)) // what is saved from a point on, by it and those after it
	for a := len(points) - 1; a >= 0; a-- {
		for b := a + 1; b < len(points); b++ {
			if points[b].request > points[a].request {
				best[a] = max(best[a], best[b]+l.gain(points[b], &points[a], worth))
			}
		}
	}
	saved := 0.0
	for a := range points {
		saved = max(saved, best[a]+l.gain(points[a], nil, worth))
	}
	return l.plain() - saved
}

// gain returns what a cut saves after an earlier one.
func (l *ledger) gain(p point, after *point, worth []float64) float64 {
	taken := map[int]bool{}
	if after != nil {
		for _, it := range l.found[after.request].Items {
			taken[it.Part] = it.Part >= after.from
		}
	}
	found := l.found[p.request]
	var items []plan.Item
	fresh := 0
	for _, it := range found.Items {
		if it.Part >= p.from {
			items = append(items, it)
			if !taken[it.Part] {
				fresh += it.Tokens
			}
		}
	}
	if fresh == 0 {
		return 0
	}
	cost := 0.0
	if !l.cold[p.request] {
		// Of what is behind the place, the last response's own tokens are written in any case.
		rewritten := found.Cost(items, plan.Situation{Prices: l.prices}).RewrittenTokens
		added := 0
		if p.request > 0 {
			added = l.totals[p.request] - l.totals[p.request-1]
		}
		cost = float64(max(0, rewritten-added)) * (l.prices.CacheWrite - l.prices.CacheRead)
	}
	return float64(fresh)*worth[p.request] - cost
}

// maxPlaces bounds the places of one plan that the oracle tries.
const maxPlaces = 8

// points returns the cuts that are worth trying: where a plan has something that the one before had not, or the cache is cold.
func (l *ledger) points() (points []point) {
	known := map[int]bool{}
	for i, found := range l.found {
		fresh := l.cold[i] && i > 0
		var places []int
		for _, it := range found.Items {
			fresh = fresh || !known[it.Part]
			known[it.Part] = true
			places = append(places, it.Part)
		}
		if !fresh || len(places) == 0 {
			continue
		}
		slices.Sort(places)
		step := max(1, (len(places)+maxPlaces-1)/maxPlaces)
		for k := 0; k < len(places); k += step {
			points = append(points, point{i, places[k]})
		}
	}
	return points
}

// add takes down what a recording costs.
func (e *economy) add(r recording) {
	l := newLedger(r)
	e.contexts++
	plain := l.plain()
	eager, _ := l.play(func(_ int, found plan.Found) []plan.Item { return found.Items })
	advised, cuts := l.play(l.advised)
	e.plain, e.eager, e.advised, e.cuts = e.plain+plain, e.eager+eager, e.advised+advised, e.cuts+cuts
	e.oracle += min(l.oracle(), plain, eager, advised)
}

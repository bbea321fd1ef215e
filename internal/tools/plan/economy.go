package main

import (
	"time"

	"github.com/ctxls/ctxls/internal/core/plan"
)

// economy is what contexts cost at the cache, in tokens of plain input: as they were, with cuts at once whenever something can go, with
// those that ctxls advises, and with those of an oracle that knows when the context ends.
type economy struct {
	plain, eager, advised, oracle float64
	cuts                          int
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

// add takes down what a context costs.
func (e *economy) add(l ledger) {
	plain := l.plain()
	eager, _ := l.play(func(_ int, found plan.Found) []plan.Item { return found.Items })
	advised, cuts := l.play(l.advised)
	e.plain, e.eager, e.advised, e.cuts = e.plain+plain, e.eager+eager, e.advised+advised, e.cuts+cuts
	e.oracle += min(l.oracle(), plain, eager, advised)
}

package main

import (
	"cmp"
	"slices"

	"github.com/ctxls/ctxls/internal/core/plan"
)

// free is something that can go of a context: from which request on, and what that frees.
type free struct {
	part, since, tokens int
}

// oracle returns the least that the context can cost with cuts, by one that knows how many requests follow and which of them find the
// cache cold. A cut takes all that can go from some place on: what stands behind the place is written again in any case. It is a lower
// bound: an item that could go once is taken to stay so, though something quoted it since.
//
// Where the cache is cold a cut costs nothing, so that all that can go goes then. In between, saved tries every set of cuts.
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
	var frees []free
	known := map[int]bool{}
	for i, found := range l.found {
		for _, it := range found.Items {
			if !known[it.Part] {
				known[it.Part] = true
				frees = append(frees, free{it.Part, i, it.Tokens})
			}
		}
	}
	saved, from := 0.0, 0
	for i := 1; i <= n; i++ {
		if i == n || l.cold[i] {
			saved += l.saved(frees, from, i, worth)
			from = i
		}
	}
	return l.plain() - saved
}

// saved returns the most that cuts between two requests can save, of items that can go since after the first of them. What is left goes at
// the second without further cost.
//
// best[s][e] is the most that cuts after time s and before time e can save, if all that could go at s went then and all else goes at e.
// It grows by one place after the other, from the last to the first: either no cut begins there, or one at a time t does, and then
// what came to be free up to t and what came after it are independent of each other.
func (l *ledger) saved(frees []free, from, to int, worth []float64) float64 {
	var items []free
	times := []int{from}
	for _, f := range frees {
		if f.since > from && f.since <= to || from == 0 && f.since == 0 {
			items = append(items, f)
			if last := times[len(times)-1]; f.since > last && f.since < to {
				times = append(times, f.since)
			}
		}
	}
	times = append(times, to)
	slices.SortFunc(items, func(a, b free) int { return cmp.Compare(b.part, a.part) })
	n := len(times)
	best := make([][]float64, n)
	for s := range best {
		best[s] = make([]float64, n)
	}
	for _, it := range items {
		next := make([][]float64, n)
		for s := n - 1; s >= 0; s-- {
			next[s] = make([]float64, n)
			for e := s + 1; e < n; e++ {
				gone := 0.0
				if it.since <= times[e] && (it.since > times[s] || s == 0) {
					gone = float64(it.tokens) * worth[times[e]]
				}
				next[s][e] = best[s][e] + gone
			}
		}
		costs := make([]float64, n)
		for t := 1; t < n-1; t++ {
			costs[t] = l.rewriting(frees, times[t], it.part)
		}
		for width := 2; width < n; width++ {
			for s := 0; s+width < n; s++ {
				e := s + width
				for t := s + 1; t < e; t++ {
					next[s][e] = max(next[s][e], next[s][t]+next[t][e]-costs[t])
				}
			}
		}
		best = next
	}
	return best[0][n-1]
}

// rewriting returns what it costs to write again what a cut before a request leaves from a place on. The last response's own tokens are
// written in any case.
func (l *ledger) rewriting(frees []free, request, part int) float64 {
	kept := 0
	for _, p := range l.parts[part:max(part, l.requests[max(request-1, 0)].parts)] {
		if p.Class != plan.Media || p.Within < 0 {
			kept += p.Tokens
		}
	}
	for _, f := range frees {
		if f.part >= part && f.since <= request {
			kept -= f.tokens
		}
	}
	return float64(max(0, kept)) * (l.prices.CacheWrite - l.prices.CacheRead)
}

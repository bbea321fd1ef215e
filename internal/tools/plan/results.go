package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/plan"
)

// results are what was found in all contexts.
type results struct {
	shares   []float64 // of each context at its end: what could go, in percent
	requests int
	byKind   map[plan.Kind]int // tokens
	tokens   int
	needs    needs
	economy  economy
	worthy   []float64 // shares of contexts above largeContext
}

// largeContext is where contexts are told apart: short ones have little to lose.
const largeContext = 50_000

func (a *results) add(r recording) {
	if a.byKind == nil {
		a.byKind = map[plan.Kind]int{}
	}
	l := newLedger(r)
	found := l.found[len(l.found)-1]
	share := 100 * float64(plan.Freed(found.Items)) / float64(max(found.Tokens, 1))
	a.shares = append(a.shares, share)
	if found.Tokens > largeContext {
		a.worthy = append(a.worthy, share)
	}
	a.requests += len(r.requests)
	a.tokens += found.Tokens
	for _, it := range found.Items {
		a.byKind[it.Kind] += it.Tokens
	}
	a.needs.follow(l)
	a.economy.add(l)
}

// write prints the tables.
func (a *results) write(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Contexts: %d, requests: %d. A context is a session, or what is between two compactions of it.\n\n", len(a.shares), a.requests)
	b.WriteString("| freeable share at the end of a context | p10 | median | p90 | most |\n|---|---|---|---|---|\n")
	for _, row := range []struct {
		name   string
		values []float64
	}{{"all", a.shares}, {fmt.Sprintf("above %dk tokens (%d)", largeContext/1000, len(a.worthy)), a.worthy}} {
		if len(row.values) > 0 {
			fmt.Fprintf(&b, "| %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", row.name, quantile(row.values, 0.1), quantile(row.values, 0.5), quantile(row.values, 0.9), quantile(row.values, 1))
		}
	}
	b.WriteString("\n| kind | share of all tokens | marked | read again | quoted | needed | read again, newer |\n|---|---|---|---|---|---|---|\n")
	marked, needed := 0, 0
	for _, kind := range plan.Kinds {
		n := a.needs.marked[kind]
		wrong := a.needs.readAgain[kind] + a.needs.quoted[kind]
		rate := "–"
		if n > 0 {
			rate = fmt.Sprintf("%.1f %%", 100*float64(wrong)/float64(n))
		}
		fmt.Fprintf(&b, "| %s | %.1f %% | %d | %d | %d | %s | %d |\n", kind, 100*float64(a.byKind[kind])/float64(a.tokens), n, a.needs.readAgain[kind], a.needs.quoted[kind], rate, a.needs.readNewer[kind])
		if kind == plan.Superseded || kind == plan.Duplicate {
			marked, needed = marked+n, needed+wrong
		}
	}
	if marked > 0 {
		fmt.Fprintf(&b, "\nOf %d superseded and duplicate items, %d were needed later: %.1f %%.\n", marked, needed, 100*float64(needed)/float64(marked))
	}
	e := a.economy
	b.WriteString("\n| policy | cost of input, in tokens of plain input | regret | of what can be saved |\n|---|---|---|---|\n")
	for _, row := range []struct {
		name string
		cost float64
	}{{"never cut", e.plain}, {"cut whatever can go, at once", e.eager}, {fmt.Sprintf("follow the advice (%d cuts)", e.cuts), e.advised}, {"oracle", e.oracle}} {
		fmt.Fprintf(&b, "| %s | %.0f | %.1f %% | %.0f %% |\n", row.name, row.cost, 100*(row.cost-e.oracle)/e.oracle, 100*(e.plain-row.cost)/max(e.plain-e.oracle, 1))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// quantile returns the nearest-rank quantile.
func quantile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(int(math.Ceil(share*float64(len(sorted))))-1, 0)]
}

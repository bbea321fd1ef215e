package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// row writes a row of a table.
func row(out io.Writer, cells ...string) { fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")) }

func head(out io.Writer, title string, cells ...string) {
	fmt.Fprintf(out, "### %s\n\n", title)
	row(out, cells...)
	fmt.Fprintln(out, "|---"+strings.Repeat("|---", len(cells)-1)+"|")
}

// writeSteps writes the errors of growth by the steps of the formula.
func writeSteps(out io.Writer, all, newer result) {
	head(out, "Growth by steps", "formula", allModels+": median / p90", newerModels)
	for _, s := range steps {
		row(out, s.title, pair(all.growth[s.title], "%.1f", " %"), pair(newer.growth[s.title], "%.1f", " %"))
	}
	row(out, oursTitle, pair(all.growth[oursTitle], "%.1f", " %"), pair(newer.growth[oursTitle], "%.1f", " %"))
	fmt.Fprintln(out)
}

// writeMethods compares methods over all models.
func writeMethods(out io.Writer, r result) {
	cells := []string{"method", "growth, relative error: median / p90"}
	for _, h := range horizons {
		cells = append(cells, fmt.Sprintf("context after %d: median / p90", h))
	}
	head(out, "Methods", cells...)
	for _, m := range methods("") {
		name := m.name()
		cells := []string{name, pair(r.growth[name], "%.1f", " %")}
		for _, h := range horizons {
			cells = append(cells, pair(r.context[name][h], "%.0f", ""))
		}
		row(out, cells...)
	}
	fmt.Fprintln(out)
}

// writeModels writes the errors of ctxls by model, and how often the truth was in its range.
func writeModels(out io.Writer, results []result) {
	cells := []string{"model", "sessions", "pairs", "growth: median / p90"}
	for _, h := range horizons {
		cells = append(cells, fmt.Sprintf("in the range (below it) after %d", h))
	}
	head(out, "Models", cells...)
	for _, r := range results {
		name := r.model
		if name == "" {
			name = "not recorded"
		}
		cells := []string{name, fmt.Sprint(r.sessions), fmt.Sprint(r.pairs), pair(r.growth[oursTitle], "%.1f", " %")}
		for _, h := range horizons {
			cell := "–"
			if n := len(r.context[oursTitle][h]); n > 0 {
				cell = fmt.Sprintf("%.0f %% (%.0f %%)", 100*float64(r.covered[h])/float64(n), 100*float64(r.beneath[h])/float64(n))
			}
			cells = append(cells, cell)
		}
		row(out, cells...)
	}
	fmt.Fprintln(out)
}

// pair renders median and 90th percentile.
func pair(values []float64, format, unit string) string {
	median := quantile(values, 0.5)
	if math.IsNaN(median) {
		return "–"
	}
	return fmt.Sprintf(format+" / "+format+"%s", median, quantile(values, 0.9), unit)
}

package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// write prints the tables.
func write(out io.Writer, results []result) error {
	var b strings.Builder
	for _, r := range results {
		fmt.Fprintf(&b, "### %s\n\nPairs of consecutive responses: %d. Sessions: %d.\n\n", r.model, r.pairs, r.sessions)
		b.WriteString("| method | growth, relative error: median / p90 |")
		for _, h := range horizons {
			fmt.Fprintf(&b, " context after %d: median / p90 |", h)
		}
		b.WriteString("\n|---|---|" + strings.Repeat("---|", len(horizons)) + "\n")
		for _, m := range methods() {
			name := m.name()
			fmt.Fprintf(&b, "| %s | %s |", name, pair(r.growth[name], "%.1f", " %"))
			for _, h := range horizons {
				fmt.Fprintf(&b, " %s |", pair(r.context[name][h], "%.0f", ""))
			}
			b.WriteString("\n")
		}
		b.WriteString("\nThe truth lay inside our band (below it):")
		for i, h := range horizons {
			if n := len(r.context["ctxls"][h]); n > 0 {
				fmt.Fprintf(&b, "%s %.0f %% (%.0f %%) after %d", strings.Repeat(",", min(i, 1)), 100*float64(r.covered[h])/float64(n), 100*float64(r.beneath[h])/float64(n), h)
			}
		}
		b.WriteString(".\n\n")
	}
	_, err := io.WriteString(out, strings.TrimSuffix(b.String(), "\n"))
	return err
}

// pair renders median and 90th percentile.
func pair(values []float64, format, unit string) string {
	median := quantile(values, 0.5)
	if math.IsNaN(median) {
		return "–"
	}
	return fmt.Sprintf(format+" / "+format+"%s", median, quantile(values, 0.9), unit)
}

package ui

import (
	"testing"

	"github.com/ctxls/ctxls/internal/core"
)

func TestGaugeMarksWhereTheHostCompacts(t *testing.T) {
	for _, c := range []struct {
		percent, compaction, limit int
		want                       string
	}{
		{72, 167_000, 200_000, "███████░│░"},
		{95, 167_000, 200_000, "████████│█"},
		{72, 0, 200_000, "███████░░░"},
		{72, 199_999, 200_000, "███████░░│"},
		{72, 200_000, 200_000, "███████░░░"}, // a limit at or below the point has no place for it
		{100, 167_000, 100_000, "██████████"},
	} {
		u := core.Usage{Display: core.Display{LimitTokens: c.limit, Percent: &c.percent}}
		if c.compaction > 0 {
			u.CompactionTokens = &c.compaction
		}
		if got := gauge(u, 10); got != c.want {
			t.Errorf("%d %% of %d, compacting at %d: got %s, want %s", c.percent, c.limit, c.compaction, got, c.want)
		}
	}
}

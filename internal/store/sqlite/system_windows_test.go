package sqlite

import (
	"testing"
	"time"
)

func setUmask(*testing.T, int) {}

func processTime(tb testing.TB) time.Duration {
	tb.Skip("Windows tells what a process has worked in steps too large for this")
	return 0
}

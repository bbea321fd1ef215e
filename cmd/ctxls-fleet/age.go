package main

import (
	"fmt"
	"strconv"
	"time"
)

// parseAge reads a number of hours, days or weeks.
func parseAge(flag, text string) (time.Duration, error) {
	units := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if text != "" {
		unit, known := units[text[len(text)-1]]
		if n, err := strconv.Atoi(text[:len(text)-1]); known && err == nil && n > 0 && n <= 100_000 {
			return time.Duration(n) * unit, nil
		}
	}
	return 0, usageError{fmt.Sprintf("--%s: want a number with h, d or w for hours, days or weeks, as 7d, got %q", flag, text)}
}

package ui

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Sorting is an order of sessions.
type Sorting int

const (
	byUpdate Sorting = iota
	byShare
	byLeft
	byProject
	sortings
)

// String names the order on the screen.
func (s Sorting) String() string {
	return [sortings]string{"last active", "fullest", "nearest to compaction", "project"}[s]
}

// sortNames names the orders on a command line.
var sortNames = [sortings]string{"active", "full", "left", "project"}

// ParseSorting returns the order of a name: active (the last active first), full, left (the nearest to a compaction first) or
// project.
func ParseSorting(name string) (Sorting, error) {
	if i := slices.Index(sortNames[:], name); i >= 0 {
		return Sorting(i), nil
	}
	return 0, fmt.Errorf("want %s, %s, %s or %s, got %q", sortNames[0], sortNames[1], sortNames[2], sortNames[3], text.Sanitize(name, 40))
}

// SortNames returns the names that ParseSorting takes.
func SortNames() []string { return sortNames[:] }

// Sort orders sessions. Equal ones keep their order.
func Sort(sessions []core.SessionView, by Sorting) {
	slices.SortStableFunc(sessions, by.compare)
}

// compare orders two sessions; unknown figures come last.
func (s Sorting) compare(a, b core.SessionView) int {
	descending := func(a, b *int) int { return -compareKnown(a, b, -1) }
	switch s {
	case byShare:
		return descending(a.Usage.Display.Percent, b.Usage.Display.Percent)
	case byLeft:
		return compareKnown(cmp.Or(a.Usage.ToCompaction, a.Usage.ToRefusal), cmp.Or(b.Usage.ToCompaction, b.Usage.ToRefusal), 1)
	case byProject:
		return cmp.Or(cmp.Compare(projectOf(a), projectOf(b)), cmp.Compare(a.CWD, b.CWD))
	}
	return b.UpdatedAt.Compare(a.UpdatedAt)
}

// compareKnown compares numbers. unknown is the result for an unknown a and a known b.
func compareKnown(a, b *int, unknown int) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return unknown
	case b == nil:
		return -unknown
	}
	return cmp.Compare(*a, *b)
}

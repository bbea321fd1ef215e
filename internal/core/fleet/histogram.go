package fleet

import (
	"maps"
	"slices"
)

// Bin is the tasks of one range of tokens.
type Bin struct {
	Above int     `json:"above"` // the tasks have more tokens than this; in the first bin, this many or more
	UpTo  int     `json:"upTo"`  // and at most as many
	Tasks int     `json:"tasks"`
	Rest  float64 `json:"rest"` // share of all tasks, 0–1, with more than UpTo tokens
}

// maxBins is the number of bins that fit a screen and can be read at a glance.
const maxBins = 24

// Histogram returns the distribution of tokens in bins whose width is one, two or five times a power of ten. There are at most maxBins
// bins.
func Histogram(tokens []int) []Bin {
	counts := make(map[int]int, len(tokens))
	for _, n := range tokens {
		counts[n]++
	}
	return HistogramOf(counts)
}

// HistogramOf is Histogram for counted tasks: counts maps a number of tokens to a number of tasks. Tokens that are rounded up to a
// thousand are in the same bin as exact ones.
func HistogramOf(counts map[int]int) []Bin {
	if len(counts) == 0 {
		return []Bin{}
	}
	most, rest := slices.Max(slices.Collect(maps.Keys(counts))), 0
	width := 1_000
	for steps := 0; most > width*maxBins; steps++ {
		width = width * []int{2, 5, 10}[steps%3] / []int{1, 2, 5}[steps%3]
	}
	bins := make([]Bin, max((most+width-1)/width, 1))
	for n, tasks := range counts {
		bins[max((n+width-1)/width-1, 0)].Tasks += tasks
		rest += tasks
	}
	all := float64(rest)
	for i := range bins {
		bins[i].Above, bins[i].UpTo = i*width, (i+1)*width
		rest -= bins[i].Tasks
		bins[i].Rest = float64(rest) / all
	}
	return bins
}

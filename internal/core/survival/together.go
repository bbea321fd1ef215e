package survival

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Fact is a path or a command.
type Fact struct {
	Text string
	Path bool
	Ago  int // responses
}

// Together returns the paths and commands that a summary does not name, ranked by score and price, as far as budget tokens go. It is what
// the constants were tuned for.
func (p Past) Together(budget float64) []Fact {
	return p.ranked(budget, func(f Fact, score float64) float64 { return score / factCost(f) })
}

// Recent is Together by recency alone, to compare with.
func (p Past) Recent(budget float64) []Fact {
	return p.ranked(budget, func(f Fact, _ float64) float64 { return -float64(f.Ago) })
}

func factCost(f Fact) float64 { return Cost(utf8.RuneCountInString(f.Text)) }

func (p Past) ranked(budget float64, worth func(Fact, float64) float64) []Fact {
	type ranked struct {
		Fact
		worth float64
	}
	summary := p.Summary()
	var all []ranked
	for _, x := range p.Paths {
		if !strings.Contains(summary, path.Base(x.Path)) {
			f := Fact{x.Path, true, x.Ago}
			all = append(all, ranked{f, worth(f, x.Score())})
		}
	}
	for _, x := range p.Commands {
		if !strings.Contains(summary, x.Text) {
			f := Fact{x.Text, false, x.Ago}
			all = append(all, ranked{f, worth(f, x.score())})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(b.worth, a.worth) })
	var chosen []Fact
	for _, f := range all {
		if cost := factCost(f.Fact); cost <= budget {
			budget -= cost
			chosen = append(chosen, f.Fact)
		}
	}
	return chosen
}

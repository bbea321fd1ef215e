package main

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
)

// horizons are after how many calls without a report the context is predicted.
var horizons = []int{1, 5, 10, 20}

// methods returns fresh ones, in the order of the tables.
func methods(provider string) []method {
	return []method{
		&ours{provider: provider, fresh: true}, &ours{provider: provider},
		plainCount{"tiktoken (cl100k_base)", func(r response) float64 { return float64(r.tokens) }},
		plainCount{"characters / 4", func(r response) float64 { return float64(r.chars) / 4 }},
	}
}

// The names of rows that join models.
const (
	allModels   = "all models"
	newerModels = "models from Opus 4.7 on"
)

// isNewer reports whether a model is one of Claude's with the tokenizer of Opus 4.7.
func isNewer(model string) bool {
	return strings.HasPrefix(model, "claude-") && !session.IsOlderClaude(model)
}

// result is what was found for one model.
type result struct {
	model            string
	pairs, sessions  int
	growth           map[string][]float64         // by method: relative error of growth, percent
	context          map[string]map[int][]float64 // by method and horizon: absolute error of the context, tokens
	covered, beneath map[int]int                  // by horizon: how often the truth lay in our band, and below it
}

func newResult(model string) *result {
	return &result{model: model, growth: map[string][]float64{}, context: map[string]map[int][]float64{}, covered: map[int]int{}, beneath: map[int]int{}}
}

// measure predicts everything that can be predicted: by model, then of newer models together, then of all.
func measure(provider string, sessions []recording) []result {
	byModel := map[string]*result{}
	all := methods(provider)
	if provider == "anthropic" {
		for _, step := range steps {
			all = append(all, &reference{step: step.step, title: step.title})
		}
	}
	for _, m := range all {
		for _, s := range sessions {
			m.open()
			counted := map[string]bool{}
			for i := range s[:len(s)-1] {
				if s[i].last {
					m.learn(s[i], s[i+1])
					continue
				}
				r := byModel[s[i].model]
				if r == nil {
					r = newResult(s[i].model)
					byModel[s[i].model] = r
				}
				if o, ok := m.(*ours); ok && o.fresh {
					r.pairs++
					if !counted[r.model] {
						counted[r.model] = true
						r.sessions++
					}
				}
				r.predict(m, s[i:])
				m.learn(s[i], s[i+1])
			}
		}
	}
	results := make([]result, 0, len(byModel)+2)
	newer, total := newResult(newerModels), newResult(allModels)
	for _, model := range slices.Sorted(maps.Keys(byModel)) {
		results = append(results, *byModel[model])
		total.merge(*byModel[model])
		if isNewer(model) {
			newer.merge(*byModel[model])
		}
	}
	if newer.pairs > 0 {
		results = append(results, *newer)
	}
	return append(results, *total)
}

func (r *result) merge(other result) {
	r.pairs, r.sessions = r.pairs+other.pairs, r.sessions+other.sessions
	for name, errs := range other.growth {
		r.growth[name] = append(r.growth[name], errs...)
		if r.context[name] == nil {
			r.context[name] = map[int][]float64{}
		}
		for _, h := range horizons {
			r.context[name][h] = append(r.context[name][h], other.context[name][h]...)
		}
	}
	for _, h := range horizons {
		r.covered[h] += other.covered[h]
		r.beneath[h] += other.beneath[h]
	}
}

// predict takes down how far a method errs from the first of rs on.
func (r *result) predict(m method, rs []response) {
	reach := 1
	for reach < len(rs)-1 && reach < horizons[len(horizons)-1] && !rs[reach].last {
		reach++
	}
	predicted := m.grow(rs[:reach])
	for _, h := range horizons {
		if h > reach {
			break
		}
		growth := float64(rs[h].report.Tokens - rs[0].report.Tokens)
		off := predicted[h-1] - growth
		if h == 1 {
			r.growth[m.name()] = append(r.growth[m.name()], 100*math.Abs(off)/math.Max(math.Abs(growth), 1))
		}
		if r.context[m.name()] == nil {
			r.context[m.name()] = map[int][]float64{}
		}
		r.context[m.name()][h] = append(r.context[m.name()][h], math.Abs(off))
		if o, ok := m.(*ours); ok && o.fresh {
			below, above := session.Margin(predicted[h-1], h)
			switch {
			case off > float64(below):
				r.beneath[h]++
			case -off <= float64(above):
				r.covered[h]++
			}
		}
	}
}

// quantile returns the nearest-rank quantile, NaN of nothing.
func quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(int(math.Ceil(share*float64(len(sorted))))-1, 0)]
}

package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/ctxls/ctxls/internal/core/session"
)

// method predicts growth. A fresh one knows nothing of any model.
type method interface {
	name() string
	// open begins another session.
	open()
	// grow returns what is predicted to have come into the context by the time of each response after the first of rs, from
	// what stands in rs but no figures of later responses.
	grow(rs []response) []float64
	// learn is told the next response after r.
	learn(r, next response)
}

// ours is the estimator of internal/core. In use it keeps what it learns of a model from session to session; where fresh is
// set it begins each with what is published of the model.
type ours struct {
	fresh        bool
	calibrations map[string]session.Calibration
	before       session.Tail // of the response before
}

func (o *ours) name() string {
	if o.fresh {
		return "ctxls"
	}
	return "ctxls, learning from session to session"
}

func (o *ours) open() {
	if o.before = (session.Tail{}); o.fresh || o.calibrations == nil {
		o.calibrations = map[string]session.Calibration{}
	}
}

func (o *ours) estimator(model string) session.Estimator {
	return session.NewEstimator("anthropic", model, o.calibrations[model])
}

func (o *ours) grow(rs []response) (sums []float64) {
	e := o.estimator(rs[0].model)
	tail, sum := o.before, 0.0
	for i, r := range rs {
		rep := r.report
		if i > 0 {
			rep.Tuple.Output = 0 // not known: nothing after the first was reported
		}
		tail = tail.Follow(rep, rep.Tokens, e).Append(r.pieces)
		sum += e.Growth(tail)
		sums = append(sums, sum)
	}
	return sums
}

func (o *ours) learn(r, next response) {
	e, c := o.estimator(r.model), o.calibrations[r.model]
	o.before = o.before.Follow(r.report, r.report.Tokens, e).Append(r.pieces)
	if !r.last {
		o.calibrations[r.model], _ = c.Learn(o.before, next.report.Tokens, e)
	}
}

// plain takes a count of the text for the growth.
type plain struct {
	title string
	count func(response) float64
}

func (p plain) name() string           { return p.title }
func (plain) open()                    {}
func (plain) learn(response, response) {}
func (p plain) grow(rs []response) (sums []float64) {
	sum := 0.0
	for _, r := range rs {
		sum += p.count(r)
		sums = append(sums, sum)
	}
	return sums
}

// reference is the formula that was published with the measurements that ctxls builds on, written down a second time and
// by itself. In each session k starts from the published value of its model; where it is to run, it is the weighted median
// of the last 60 factors and of five that stand for the start.
type reference struct {
	running bool
	factors []session.Factor
	tools   map[string]string // by call
	turn    float64           // tokens thought earlier in the turn
}

func (r *reference) name() string {
	if r.running {
		return "reference, k running"
	}
	return "reference, k fixed"
}

func (r *reference) open() { r.factors, r.tools, r.turn = nil, map[string]string{}, 0 }

// published values of k, and whether the model forgets its thoughts at a person's turn.
var published = map[string]struct {
	k      float64
	forget bool
}{
	"claude-sonnet-4-5": {1, true}, "claude-haiku-4-5": {1, true}, "claude-opus-4-5": {1, false}, "claude-opus-4-6": {1, false},
	"claude-opus-5": {1.33, false},
}

var toolFactor = map[string]float64{
	"Read": 1.10, "Bash": 1.20, "Grep": 1.28, "Glob": 1.28, "Edit": 1.08, "Write": 1.08, "Task": 1.17,
}

func (r *reference) k(model string) float64 {
	prior := published[model].k
	if prior == 0 {
		prior = 1
	}
	all := append(slices.Clone(r.factors), session.Factor{Value: prior, Weight: 5})
	slices.SortFunc(all, func(a, b session.Factor) int { return cmp.Compare(a.Value, b.Value) })
	total, passed := 0.0, 0.0
	for _, f := range all {
		total += f.Weight
	}
	for _, f := range all {
		if passed += f.Weight; passed >= total/2 {
			return f.Value
		}
	}
	return prior
}

// parts returns the fixed part of the growth after a response, the content that k multiplies, its plain tokens, the tokens
// thought in it and whether a person spoke.
func (r *reference) parts(res response, output int) (fixed, content, tokens, thought float64, prompted bool) {
	final := output > 0
	fixed = float64(output)
	for _, p := range res.pieces {
		n := float64(p.Tokens)
		switch p.Class {
		case session.AnswerText, session.ToolCall, session.Thought:
			overhead, factor := 0.0, 1.18
			if p.Class == session.ToolCall {
				overhead, factor = 55, 1.14
				r.tools[p.CallID] = p.Tool
			} else if p.Class == session.Thought {
				overhead = 0.205 * math.Max(0, float64(p.Bytes-150))
				thought += overhead
			}
			if !final {
				fixed += overhead
				content += factor * n
				tokens += n
			}
			continue
		case session.ToolResult:
			factor := toolFactor[r.tools[p.CallID]]
			if factor == 0 {
				factor = 1.17
			}
			fixed += 30
			content += factor * n
		case session.Image:
			fixed += 1500
		case session.PromptText, session.InjectedText:
			content += 1.18 * n
			prompted = prompted || p.Class == session.PromptText
		}
		tokens += n
	}
	return fixed, content, tokens, thought, prompted
}

func (r *reference) grow(rs []response) (sums []float64) {
	k, sum, turn := r.k(rs[0].model), 0.0, r.turn
	for i, res := range rs {
		output := res.report.Tuple.Output
		if i > 0 {
			output = 0
		}
		fixed, content, _, thought, prompted := r.parts(res, output)
		turn += thought
		sum += fixed + k*content
		if prompted {
			if published[res.model].forget {
				sum -= turn
			}
			turn = 0
		}
		sums = append(sums, sum)
	}
	return sums
}

func (r *reference) learn(res, next response) {
	predicted := r.grow([]response{res})[0]
	fixed, content, tokens, thought, prompted := r.parts(res, res.report.Tuple.Output)
	r.turn += thought
	dropped := prompted && r.turn > 0
	if prompted {
		r.turn = 0
	}
	growth := float64(next.report.Tokens - res.report.Tokens)
	k := (growth - fixed) / content
	if !r.running || res.last || dropped || tokens < 150 || !(k >= 0.4 && k <= 3.5) || math.Abs(growth-predicted) > 8*(25+0.06*math.Abs(predicted)) {
		return
	}
	r.factors = append(r.factors, session.Factor{Value: k, Weight: math.Min(1, tokens/1000) + 0.2})
	r.factors = r.factors[max(0, len(r.factors)-60):]
}

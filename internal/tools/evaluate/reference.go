package main

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
)

// step is how much of today's formula a reference has.
type step int

// The steps by which the formula became what it is.
const (
	published    step = iota // as it was published first
	attachments              // with the text of attachments
	constants                // with the host's own words around some content, see session.Piece.Extra
	knownOutput              // a result costs less if the output before it is reported
	newTokenizer             // with factors for the models from Opus 4.7 on
)

var steps = []struct {
	step  step
	title string
}{
	{published, "as published first"},
	{attachments, "+ the text of attachments, × 1.18"},
	{constants, "+ constants of attachments and of loaded tools"},
	{knownOutput, "+ 10 tokens a result instead of 30, if the output is known"},
	{newTokenizer, "+ factors of the models from Opus 4.7 on"},
}

// reference is the formula of the estimator, written down a second time and by itself, up to a step. In each session k starts from the
// published value of its model, and is the weighted median of the last 60 factors and of five that stand for the start.
type reference struct {
	step    step
	title   string
	factors []session.Factor
	tools   map[string]string // by call
	turn    float64           // tokens thought earlier in the turn
}

func (r *reference) name() string { return r.title }

func (r *reference) open() { r.factors, r.tools, r.turn = nil, map[string]string{}, 0 }

// forgets reports whether a model forgets its thoughts at a person's turn.
func forgets(model string) bool {
	return strings.HasPrefix(model, "claude-sonnet-4-5") || strings.HasPrefix(model, "claude-haiku-4-5")
}

var (
	toolFactor  = map[string]float64{"": 1.17, "Read": 1.10, "Bash": 1.20, "Grep": 1.28, "Glob": 1.28, "Edit": 1.08, "Write": 1.08, "Task": 1.17}
	newerFactor = map[string]float64{"": 1.14, "Read": 1.15, "Bash": 1.18, "Grep": 1.22, "Glob": 1.22, "Edit": 1.08, "Write": 1.08, "Task": 1.14}
)

func (r *reference) k(model string) float64 {
	prior := 1.0
	switch newer := isNewer(model); {
	case newer && r.step >= newTokenizer:
		prior = 1.39
	case newer:
		prior = 1.33
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
	factors, perResult := toolFactor, 30.0
	if r.step >= newTokenizer && isNewer(res.model) {
		factors = newerFactor
	}
	if r.step >= knownOutput && final {
		perResult = 10
	}
	for _, p := range res.pieces() {
		if p.attached && r.step < attachments {
			continue
		}
		n := float64(p.Tokens)
		if r.step >= constants {
			fixed += float64(p.Extra)
		}
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
			factor := factors[r.tools[p.CallID]]
			if factor == 0 {
				factor = factors[""]
			}
			fixed += perResult
			content += factor * n
		case session.Image:
			fixed += 1500
		default:
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
			if forgets(res.model) {
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
	if res.last || dropped || tokens < 150 || !(k >= 0.4 && k <= 3.5) || math.Abs(growth-predicted) > 8*(25+0.06*math.Abs(predicted)) {
		return
	}
	r.factors = append(r.factors, session.Factor{Value: k, Weight: math.Min(1, tokens/1000) + 0.2})
	r.factors = r.factors[max(0, len(r.factors)-60):]
}

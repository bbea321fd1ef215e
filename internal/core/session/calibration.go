package session

import (
	"cmp"
	"math"
	"slices"
)

// Calibration is what the reports of one model have taught about how it counts. The zero Calibration has learned nothing.
type Calibration struct {
	Model    string   `json:"model"`    // in its plain spelling, see PlainModel
	Encoding string   `json:"encoding"` // in which content was counted
	Factors  []Factor `json:"factors"`  // the last ones, oldest first, at most MaxFactors
	// Forgot and Kept count the turns after which the model was no longer given, or was still given, what it had thought.
	Forgot int `json:"forgot,omitempty"`
	Kept   int `json:"kept,omitempty"`
	// Unsent and Sent count the responses whose reported output held reasoning that the next request left out, or carried.
	Unsent int `json:"unsent,omitempty"`
	Sent   int `json:"sent,omitempty"`
}

// Factor is what one response implied about k.
type Factor struct {
	Value  float64 `json:"value"`
	Weight float64 `json:"weight"` // more content tells more
}

// MaxFactors is how many factors are kept, and so how soon a change of the model is noticed.
const MaxFactors = 60

const (
	priorObservations = 5   // how many factors of weight 1 what was known beforehand counts for
	priorTurns        = 3   // how many turns it counts for
	maxTurns          = 30  // beyond as many, the older turns fade
	minContent        = 150 // tokens: less content tells nothing, overhead outweighs it
	minForgotten      = 300 // tokens: fewer thoughts cannot be told from noise
	minFactor         = 0.4 // what lies outside is no factor: a rewind, or content that was not written down
	maxFactor         = 3.5
	maxInnovation     = 8 // in sigma: what errs more is not about k
)

// factor returns k: the weighted median of what was learned and of the prior. A mean would follow the few responses into
// which the host slipped content of its own.
func (c Calibration) factor(prior float64) float64 {
	all := append(slices.Clone(c.Factors), Factor{prior, priorObservations})
	slices.SortFunc(all, func(a, b Factor) int { return cmp.Compare(a.Value, b.Value) })
	half := 0.0
	for _, f := range all {
		half += f.Weight / 2
	}
	for _, f := range all {
		if half -= f.Weight; half <= 0 {
			return f.Value
		}
	}
	return prior
}

// drops reports whether the model forgets its thoughts when a person speaks.
func (c Calibration) drops(prior bool) bool {
	if prior {
		return c.Forgot+priorTurns > c.Kept
	}
	return c.Forgot > c.Kept+priorTurns
}

// unsent reports whether the model's reported output holds reasoning that is not sent back, as that of some models behind a
// gateway does.
func (c Calibration) unsent() bool { return c.Unsent > c.Sent+priorTurns }

// Learn returns what is known after a response that was given input tokens, where the tail is what came between the one
// before and it, and whether that taught anything. e is the estimator made of c.
func (c Calibration) Learn(t Tail, input int, e Estimator) (Calibration, bool) {
	if t.Input == 0 || t.Partial {
		return c, false
	}
	growth := float64(input - t.Input)
	c, taught := c.learnReasoning(growth, t, e)
	fixed, content := e.parts(t)
	forgotten := e.forgotten(t)
	if kept := fixed + e.k*content; forgotten > minForgotten {
		c, turn := c.learnTurn(growth, kept, kept-forgotten)
		return c, turn || taught
	}
	if e.drops {
		fixed -= forgotten
	}
	text := t.Added.textTokens()
	if t.Output == 0 || e.unsent {
		text += t.Answer.textTokens()
	}
	predicted, value := fixed+e.k*content, (growth-fixed)/content
	if text < minContent || !(value >= minFactor && value <= maxFactor) || math.Abs(growth-predicted) > maxInnovation*sigma(predicted) {
		return c, taught
	}
	weight := min(1, float64(text)/1000) + 0.2
	c.Factors = append(slices.Clone(c.Factors), Factor{value, weight})
	c.Factors = c.Factors[max(0, len(c.Factors)-MaxFactors):]
	return c, true
}

// learnReasoning takes over whether an answer's reasoning was sent back: which of two predictions a response came nearer to,
// where the reported output is well above what the answer says. At a person's prompt learnTurn decides instead.
func (c Calibration) learnReasoning(growth float64, t Tail, e Estimator) (Calibration, bool) {
	e.unsent = false
	fixed, content := e.parts(t)
	written, said := e.written(t.Answer)
	reasoning := float64(t.Output) - written - e.k*said
	if t.Output == 0 || t.Prompted || reasoning < minForgotten {
		return c, false
	}
	sent := fixed + e.k*content
	unsent := sent - reasoning
	off := func(predicted float64) float64 { return math.Abs(growth - predicted) }
	if min(off(sent), off(unsent)) > maxInnovation*sigma(sent) {
		return c, false
	}
	if off(unsent) < off(sent) {
		c.Unsent++
	} else {
		c.Sent++
	}
	if c.Unsent+c.Sent > maxTurns {
		c.Unsent, c.Sent = c.Unsent/2, c.Sent/2
	}
	return c, true
}

// learnTurn takes over which of two predictions a turn's end came nearer to.
func (c Calibration) learnTurn(growth, kept, dropped float64) (Calibration, bool) {
	off := func(predicted float64) float64 { return math.Abs(growth - predicted) }
	if min(off(kept), off(dropped)) > maxInnovation*sigma(kept) {
		return c, false
	}
	if off(dropped) < off(kept) {
		c.Forgot++
	} else {
		c.Kept++
	}
	if c.Forgot+c.Kept > maxTurns {
		c.Forgot, c.Kept = c.Forgot/2, c.Kept/2
	}
	return c, true
}

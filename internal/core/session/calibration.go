package session

import (
	"cmp"
	"math"
	"slices"
)

// Calibration is what ctxls learned from the reports of one model about the way it counts. The zero Calibration has learned nothing.
type Calibration struct {
	Model    string   `json:"model"`    // the plain name, see model.Plain
	Encoding string   `json:"encoding"` // in which content was counted
	Factors  []Factor `json:"factors"`  // the latest, oldest first, at most MaxFactors
	// Forgot and Kept count turns after which the model no longer got its earlier thinking, or still got it.
	Forgot int `json:"forgot,omitempty"`
	Kept   int `json:"kept,omitempty"`
	// Unsent and Sent count responses whose reported output contained reasoning that the next request left out, or contained.
	Unsent int `json:"unsent,omitempty"`
	Sent   int `json:"sent,omitempty"`
	// Imported says that only an import has taught it. The next import replaces it.
	Imported bool `json:"imported,omitempty"`
}

// IsEmpty reports whether nothing was learned.
func (c Calibration) IsEmpty() bool {
	return len(c.Factors) == 0 && c.Forgot+c.Kept+c.Unsent+c.Sent == 0
}

// Factor is the value of k that one response implies.
type Factor struct {
	Value  float64 `json:"value"`
	Weight float64 `json:"weight"` // more content tells more
}

// MaxFactors bounds the stored factors. A smaller number makes ctxls notice a change of the model sooner.
const MaxFactors = 60

const (
	priorObservations = 5   // the weight of the prior, in factors of weight 1
	priorTurns        = 3   // how many turns it counts for
	maxTurns          = 30  // from this many turns on, older turns fade
	minContent        = 150 // tokens; overhead dominates smaller contents
	minForgotten      = 300 // tokens; less thinking cannot be told from noise
	minFactor         = 0.4 // values outside are no factors: the user rewound, or content was not recorded
	maxFactor         = 3.5
	maxInnovation     = 8 // in sigma; a larger error has another cause than k
)

// factor returns k: the weighted median of the learned factors and the prior. A mean would follow the few responses to which the host
// added content of its own.
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

// drops reports whether the model loses its earlier thinking at a prompt of the user.
func (c Calibration) drops(prior bool) bool {
	if prior {
		return c.Forgot+priorTurns > c.Kept
	}
	return c.Forgot > c.Kept+priorTurns
}

// unsent reports whether the model's reported output contains reasoning that is not sent back. Some models behind gateways do this.
func (c Calibration) unsent() bool { return c.Unsent > c.Sent+priorTurns }

// Learn returns the calibration after a response that was given input tokens, and whether it learned something. The tail is the content
// since the response before; e is the estimator made of c.
func (c Calibration) Learn(t Tail, input int, e Estimator) (Calibration, bool) {
	if t.Input == 0 || t.Partial {
		return c, false
	}
	c.Imported = false
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

// learnReasoning learns whether an answer's reasoning was sent back: the response was nearer to one of two predictions. It applies only
// if the reported output is well above the size of the answer. At a prompt of the user, learnTurn decides instead.
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

// learnTurn learns from the end of a turn, which was nearer to one of two predictions.
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

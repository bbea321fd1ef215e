package session

import (
	"math"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/settings"
)

// append adds content to the conversation since the last report.
func (r *reduction) append(pieces []Piece) {
	if len(pieces) > 0 {
		r.s.Tail, r.grown = r.s.Tail.Append(pieces), true
	}
}

// follow handles the report of a new response. It measures the error of the estimate, and a new estimate begins.
func (r *reduction) follow(rep Report) {
	r.grown = true
	t := r.s.Tail
	if t.Repeats(rep) {
		r.s.Tail.Output = max(t.Output, rep.Tuple.Output)
		return
	}
	without := false
	input := rep.Occupancy(settings.UsageConfig{CountCacheWrites: true, CountOutput: &without}, r.st.Rules)
	e, c := r.estimator(), r.calibration()
	if rep.Late { // content before and after the response cannot be separated
		t.Partial = true
	}
	if c.Model != "" && (rep.Model == "" || model.Plain(rep.Model) == c.Model) {
		if c, taught := c.Learn(t, input, e); taught {
			r.ch.Calibration = &c
		}
	}
	r.s.Compaction = r.s.Compaction.Reported(input)
	r.s.Tail = t.Follow(rep, input, e)
	r.s.Tail.Partial, r.gap = r.gap, false
}

// project estimates what was added to the window since the last report.
func (r *reduction) project() {
	g := &r.s.Gauge
	if !r.grown || g.Provenance == ProvenanceHost {
		return // a status line is newer than everything that was read
	}
	if !g.Known {
		if !r.st.Rules.Silent || r.s.Tail.IsEmpty() {
			return
		}
		*g = g.Estimate(0, 0, unseenPrompt, r.now)
	}
	growth := r.estimator().Growth(r.s.Tail)
	if r.countsOutput() {
		growth -= float64(r.s.Tail.Output) // it is in Tokens
	}
	g.Appended = int(math.Round(growth))
	if r.st.Rules.Silent && !g.Reported() {
		g.At = r.now
		r.sample(r.now, g.Projected(), SampleEstimate)
	}
}

func (r *reduction) countsOutput() bool {
	if c := r.cfg.Usage.CountOutput; c != nil {
		return *c
	}
	return r.st.Rules.CountsOutput
}

func (r *reduction) estimator() Estimator {
	return NewEstimator(r.s.Provider, r.s.Model, r.calibration())
}

// calibration returns the calibration of the session's model. The loaded one may be of the model that the session has next.
func (r *reduction) calibration() Calibration {
	c := r.st.Calibration
	if r.ch.Calibration != nil {
		c = *r.ch.Calibration
	}
	if c.Model != model.Plain(r.s.Model) {
		return Calibration{}
	}
	return c
}

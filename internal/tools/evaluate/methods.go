package main

import (
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
	provider     string
	fresh        bool
	calibrations map[string]session.Calibration
	before       session.Tail // of the response before
}

const oursTitle = "ctxls"

func (o *ours) name() string {
	if o.fresh {
		return oursTitle
	}
	return "ctxls, learning from session to session"
}

func (o *ours) open() {
	if o.before = (session.Tail{}); o.fresh || o.calibrations == nil {
		o.calibrations = map[string]session.Calibration{}
	}
}

func (o *ours) estimator(model string) session.Estimator {
	return session.NewEstimator(o.provider, model, o.calibrations[model])
}

// follow returns the tail after a response, with the content in the order in which the host writes it.
func (o *ours) follow(r response, e session.Estimator) session.Tail {
	return o.before.Append(plain(r.early)).Follow(r.report, r.report.Tokens, e).Append(plain(r.late))
}

func (o *ours) grow(rs []response) (sums []float64) {
	e := o.estimator(rs[0].model)
	tail := o.follow(rs[0], e)
	sum := e.Growth(tail)
	sums = append(sums, sum)
	for _, r := range rs[1:] {
		rep := r.report
		rep.Tuple.Output, rep.Late = 0, false // not known: nothing after the first was reported
		tail = tail.Follow(rep, rep.Tokens, e).Append(plain(r.pieces()))
		sum += e.Growth(tail)
		sums = append(sums, sum)
	}
	return sums
}

func (o *ours) learn(r, next response) {
	e, c := o.estimator(r.model), o.calibrations[r.model]
	o.before = o.follow(r, e)
	if r.last {
		return
	}
	t := o.before
	t.Partial = t.Partial || r.report.Late // as in use: what is before and after such a report cannot be told apart
	o.calibrations[r.model], _ = c.Learn(t, next.report.Tokens, e)
}

// plainCount takes a count of the text for the growth.
type plainCount struct {
	title string
	count func(response) float64
}

func (p plainCount) name() string           { return p.title }
func (plainCount) open()                    {}
func (plainCount) learn(response, response) {}
func (p plainCount) grow(rs []response) (sums []float64) {
	sum := 0.0
	for _, r := range rs {
		sum += p.count(r)
		sums = append(sums, sum)
	}
	return sums
}

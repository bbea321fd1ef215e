package storetest

import (
	"fmt"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// calibration returns the stored calibration of a model in an encoding.
func (f *fixture) calibration(model, encoding string) session.Calibration {
	f.t.Helper()
	return f.load(core.Query{Key: key("any"), Model: model, Calibration: encoding}).Calibration
}

// teach stores the calibration of a model.
func (f *fixture) teach(c session.Calibration) {
	f.t.Helper()
	f.update(session.Key{}, session.Changes{Calibration: &c})
}

var calibrationTests = map[string]func(*testing.T, *fixture){
	"nothing is known of a model": func(t *testing.T, f *fixture) {
		f.want("it is named all the same", f.calibration("claude-opus-5", "cl100k_base"), session.Calibration{Model: "claude-opus-5", Encoding: "cl100k_base"})
		f.want("without a model", f.calibration("", "cl100k_base"), session.Calibration{})
	},
	"a later one replaces": func(t *testing.T, f *fixture) {
		known := session.Calibration{Model: "claude-opus-5", Encoding: "cl100k_base", Forgot: 3, Kept: 1}
		for i := range session.MaxFactors {
			known.Factors = append(known.Factors, session.Factor{Value: 1 + float64(i)/7, Weight: 0.1 + float64(i)/70})
		}
		f.teach(known)
		f.want("all of it comes back", f.calibration("claude-opus-5", "cl100k_base"), known)
		known.Factors, known.Forgot, known.Kept = known.Factors[:1], 0, 0
		f.teach(known)
		f.want("the later one", f.calibration("claude-opus-5", "cl100k_base"), known)
	},
	"kept by model and encoding": func(t *testing.T, f *fixture) {
		var all []session.Calibration
		for i, names := range [][2]string{{"m", "e"}, {"m", "f"}, {"n", "e"}} {
			all = append(all, session.Calibration{Model: names[0], Encoding: names[1], Kept: i + 1})
			f.teach(all[i])
		}
		for _, want := range all {
			f.want(fmt.Sprint(want.Model, " in ", want.Encoding), f.calibration(want.Model, want.Encoding), want)
		}
		f.want("another model", f.calibration("o", "e"), session.Calibration{Model: "o", Encoding: "e"})
	},
	"kept in the plain spelling, whatever the provider": func(t *testing.T, f *fixture) {
		f.teach(session.Calibration{Model: "us.anthropic.claude-opus-4-6-v1:0", Encoding: "e", Kept: 1})
		f.want("another spelling", f.calibration("claude-opus-4-6[1m]", "e"), session.Calibration{Model: "claude-opus-4-6", Encoding: "e", Kept: 1})
	},
	"of the stored session's model, where the query does not say": func(t *testing.T, f *fixture) {
		s := newSession("s1", 0)
		s.Model = "claude-opus-4-6"
		f.save(s)
		f.teach(session.Calibration{Model: "claude-opus-4-6", Encoding: "e", Kept: 1})
		f.want("of the session", f.load(core.Query{Key: key("s1"), Calibration: "e"}).Calibration.Kept, 1)
		f.want("of the query", f.load(core.Query{Key: key("s1"), Model: "claude-opus-5", Calibration: "e"}).Calibration.Kept, 0)
	},
	"read only where asked for": func(t *testing.T, f *fixture) {
		f.teach(session.Calibration{Model: "m", Encoding: "e", Kept: 1})
		f.want("no encoding", f.calibration("m", ""), session.Calibration{})
	},
}

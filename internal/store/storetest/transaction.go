package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
)

// everything returns changes of every kind to the session s1.
func everything() session.Changes {
	return session.Changes{
		Session:     ptr(full("s1")),
		Paths:       []session.PathUse{{Path: "a.go", Use: session.Edited, At: noon}},
		Samples:     []session.Sample{{At: noon, Tokens: 1, WindowTokens: 2, Kind: session.SampleUsage}},
		Learned:     &session.LearnedWindow{Host: session.HostClaudeCode, Provider: "anthropic", Model: "m", AcceptedTokens: 3, At: noon},
		Calibration: &session.Calibration{Model: "m", Encoding: "e", Factors: []session.Factor{{Value: 1.5, Weight: 0.7}}, Forgot: 1, Kept: 2},
		Task:        &fleet.Task{ID: "t", Tokens: 4, At: noon}, WindowTasks: 5,
		Alert: &fleet.AlertGate{At: noon, Rate: 0.5},
		Trim:  &fleet.TrimCount{Operations: 1, Tokens: 6},
	}
}

// wantNothing checks that the store is empty.
func (f *fixture) wantNothing() {
	f.t.Helper()
	f.want("Sessions", f.ids(core.SessionFilter{IncludeEnded: true}), []string(nil))
	f.want("Samples", f.samples(key("s1"), 0), []session.Sample(nil))
	f.want("Windows", f.windows(), []session.LearnedWindow(nil))
	f.want("Fleet", f.fleet(0), fleet.Fleet{})
}

var transactionTests = map[string]func(*testing.T, *fixture){
	"one update saves everything": func(t *testing.T, f *fixture) {
		f.update(key("s1"), everything())
		f.want("Session", f.session(key("s1")), session.Snapshot{Session: full("s1"), WorkingSet: everything().Paths})
		f.want("Samples", f.samples(key("s1"), 0), everything().Samples)
		f.want("Windows", f.windows(), []session.LearnedWindow{*everything().Learned})
		f.want("Calibration", f.calibration("m", "e"), *everything().Calibration)
		f.want("Fleet", f.fleet(0), fleet.Fleet{Tokens: []int{4}, Since: noon, Trim: *everything().Trim, Alert: *everything().Alert})
	},
	"zero changes change nothing": func(t *testing.T, f *fixture) {
		f.update(key("s1"), session.Changes{})
		f.update(session.Key{}, session.Changes{})
		f.wantNothing()
	},
	"a panic leaves nothing, and the store works on": func(t *testing.T, f *fixture) {
		func() {
			defer func() {
				if recover() != "boom" {
					t.Error("the panic did not come through")
				}
			}()
			f.store.Update(t.Context(), core.Query{Key: key("s1")}, func(session.State) session.Changes { panic("boom") })
		}()
		f.wantNothing()
		f.update(key("s1"), everything())
	},
	"an error halfway leaves nothing": func(t *testing.T, f *fixture) {
		changes := everything()
		err := f.store.Update(t.Context(), core.Query{Key: key("other")}, func(session.State) session.Changes { return changes })
		f.wantCode("the session of another key", err, coded.Internal)
		err = f.store.Update(t.Context(), core.Query{}, func(session.State) session.Changes { return changes })
		f.wantCode("a session that was not asked for", err, coded.Internal)
		f.wantNothing()
		changes.Session = nil // its paths find no session
		err = f.store.Update(t.Context(), core.Query{Key: key("s1")}, func(session.State) session.Changes { return changes })
		f.wantCode("paths of nobody", err, coded.Internal)
		f.wantNothing()
		f.want("Calibration", f.calibration("m", "e"), session.Calibration{Model: "m", Encoding: "e"})
	},
	"a context that has ended": func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithCancel(t.Context())
		err := f.store.Update(ctx, core.Query{Key: key("s1")}, func(session.State) session.Changes { cancel(); return everything() })
		f.wantCode("Update, cancelled while it decided", err, coded.Unavailable)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Update: %v is not context.Canceled", err)
		}
		err = f.store.Update(ctx, core.Query{Key: key("s1")}, func(session.State) session.Changes { t.Error("decide was called"); return everything() })
		f.wantCode("Update", err, coded.Unavailable)
		_, err = f.store.Sessions(ctx, core.SessionFilter{})
		f.wantCode("Sessions", err, coded.Unavailable)
		f.wantNothing()
		f.update(key("s1"), everything())
	},
	"a context that ends while another goroutine writes": func(t *testing.T, f *fixture) {
		deciding, finish := make(chan bool), make(chan bool)
		var group sync.WaitGroup
		group.Go(func() {
			f.store.Update(context.Background(), core.Query{Key: key("s1")}, func(session.State) session.Changes {
				close(deciding)
				<-finish
				return everything()
			})
		})
		<-deciding
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := f.store.Update(ctx, core.Query{Key: key("s2")}, func(session.State) session.Changes { return session.Changes{} })
		f.wantCode("Update", err, coded.Unavailable)
		f.wantNothing() // readers neither wait nor see what is not yet saved
		loaded, err := f.store.Load(t.Context(), core.Query{Key: key("s1"), WorkingSet: true, Calibration: session.Encoding})
		if err != nil || loaded.Known {
			t.Errorf("Load beside a writer: %v, known: %v", err, loaded.Known)
		}
		close(finish)
		group.Wait()
		f.want("Session", f.session(key("s1")).Session, full("s1"))
	},
	"nothing is lost between goroutines": func(t *testing.T, f *fixture) {
		const goroutines = 8
		each := 50
		if testing.Short() {
			each = 10
		}
		var group sync.WaitGroup
		for g := range goroutines {
			group.Go(func() {
				for i := range each {
					err := f.store.Update(t.Context(), core.Query{Key: key("s1"), WorkingSet: true}, func(state session.State) session.Changes {
						s := state.Session
						s.Host, s.SessionID, s.Turns = session.HostClaudeCode, "s1", s.Turns+1
						return session.Changes{Session: &s, Paths: []session.PathUse{{Path: fmt.Sprint(g, "/", i), Use: session.Read, At: after(i)}}}
					})
					if err != nil {
						t.Errorf("Update: %v", err)
					}
					if _, err := f.store.Sessions(t.Context(), core.SessionFilter{}); err != nil {
						t.Errorf("Sessions: %v", err)
					}
				}
			})
		}
		group.Wait()
		f.want("Turns", f.session(key("s1")).Session.Turns, goroutines*each)
		f.want("paths", len(f.session(key("s1")).WorkingSet), goroutines*each)
	},
	"closed": func(t *testing.T, f *fixture) {
		if err := f.store.Close(); err != nil {
			t.Fatal(err)
		}
		err := f.store.Update(t.Context(), core.Query{}, func(session.State) session.Changes { t.Error("decide was called"); return session.Changes{} })
		f.wantCode("Update", err, coded.Unavailable)
		_, err = f.store.Fleet(t.Context(), 0)
		f.wantCode("Fleet", err, coded.Unavailable)
		if err := f.store.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
	},
}

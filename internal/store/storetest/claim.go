package storetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

var claimTests = map[string]func(*testing.T, *fixture){
	"a value rises once, falls, and rises again": func(t *testing.T, f *fixture) {
		for i, step := range []struct {
			value int64
			at    int
			first bool
			want  bool
		}{
			{0, 0, true, false}, {1, 1, true, true}, {1, 1, true, false}, {1, 2, true, false}, {0, 3, true, false},
			{1, 2, true, false}, // seen late
			{1, 4, true, true}, {3, 5, false, true},
		} {
			if got := f.claim(key("s1"), "85%", step.value, step.at, step.first); got != step.want {
				t.Errorf("step %d: rose %v", i, got)
			}
		}
	},
	"a first value counts where that is asked for": func(t *testing.T, f *fixture) {
		f.want("first", f.claim(key("s1"), "85%", 1, 0, true), true)
		f.want("another trigger", f.claim(key("s1"), "300k", 1, 0, false), false)
		f.want("another session", f.claim(key("s2"), "85%", 1, 0, true), true)
		f.want("no session", f.claim(session.Key{}, "fleet", 1, 0, true), true)
	},
	"a session that is deleted leaves none": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 0))
		f.claim(key("s1"), "85%", 1, 0, true)
		f.claim(key("s2"), "85%", 1, 0, true)
		f.update(key("s1"), session.Changes{Delete: true})
		f.want("deleted", f.claim(key("s1"), "85%", 1, 0, true), true)
		f.want("the other", f.claim(key("s2"), "85%", 1, 0, true), false)
	},
	"of many that see it rise, one is told": func(t *testing.T, f *fixture) {
		var told atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for i := range 20 {
					rose, err := f.store.Claim(t.Context(), core.Claim{Key: key("s1"), Name: "85%", Value: int64(i % 2), At: after(i)})
					if err != nil {
						t.Error(err)
					}
					if rose {
						told.Add(1)
					}
				}
			})
		}
		all.Wait()
		f.want("risen", told.Load() <= 10, true)
	},
}

func (f *fixture) claim(key session.Key, name string, value int64, at int, first bool) bool {
	f.t.Helper()
	rose, err := f.store.Claim(f.t.Context(), core.Claim{Key: key, Name: name, Value: value, At: after(at).Add(time.Hour), First: first})
	if err != nil {
		f.t.Fatalf("Claim: %v", err)
	}
	return rose
}

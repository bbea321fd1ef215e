// Package storetest is the contract of core.Store as tests: an engine that passes Run can keep the state of ctxls.
package storetest

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// MaxSamples is how many samples of one session an engine may keep.
const MaxSamples = 2000

// Open opens an empty store and closes it when the test ends.
type Open func(t testing.TB) core.Store

// Run tests an engine against the contract. Each test opens its own store.
func Run(t *testing.T, open Open) {
	for _, group := range []struct {
		name  string
		tests map[string]func(*testing.T, *fixture)
	}{
		{"sessions", sessionTests},
		{"filter", filterTests},
		{"working set", pathTests},
		{"samples", sampleTests},
		{"tasks", taskTests},
		{"windows", windowTests},
		{"calibration", calibrationTests},
		{"feed", feedTests},
		{"archive", archiveTests},
		{"watch", watchTests},
		{"claims", claimTests},
		{"transaction", transactionTests},
	} {
		for name, test := range group.tests {
			t.Run(group.name+"/"+name, func(t *testing.T) { test(t, &fixture{t, open(t)}) })
		}
	}
	t.Run("model", func(t *testing.T) { checkModel(t, open) })
}

// fixture is a store in a test, with calls that fail the test where the store fails.
type fixture struct {
	t     testing.TB
	store core.Store
}

// update saves changes, with the session's key where they hold a session.
func (f *fixture) update(key session.Key, changes session.Changes) {
	f.t.Helper()
	f.decide(core.Query{Key: key}, func(session.State) session.Changes { return changes })
}

// save stores sessions.
func (f *fixture) save(sessions ...session.Session) {
	f.t.Helper()
	for _, s := range sessions {
		f.update(s.Key(), session.Changes{Session: &s})
	}
}

// decide runs an update and returns the state that its function received.
func (f *fixture) decide(q core.Query, decide func(session.State) session.Changes) (state session.State) {
	f.t.Helper()
	calls := 0
	err := f.store.Update(f.t.Context(), q, func(s session.State) session.Changes {
		calls++
		state = s
		return decide(s)
	})
	if err != nil {
		f.t.Fatalf("Update: %v", err)
	}
	if calls != 1 {
		f.t.Fatalf("decide was called %d times", calls)
	}
	return state
}

// load returns the state that q asks for and changes nothing. Load and Update must read the same.
func (f *fixture) load(q core.Query) session.State {
	f.t.Helper()
	loaded, err := f.store.Load(f.t.Context(), q)
	if err != nil {
		f.t.Fatalf("Load: %v", err)
	}
	f.want("Update after Load", f.decide(q, func(session.State) session.Changes { return session.Changes{} }), loaded)
	return loaded
}

func (f *fixture) session(key session.Key) session.Snapshot {
	f.t.Helper()
	snapshot, err := f.store.Session(f.t.Context(), key)
	if err != nil {
		f.t.Fatalf("Session: %v", err)
	}
	return snapshot
}

// ids lists the sessions that match the filter, as host/id.
func (f *fixture) ids(filter core.SessionFilter) []string {
	f.t.Helper()
	found, err := f.store.Sessions(f.t.Context(), filter)
	if err != nil {
		f.t.Fatalf("Sessions: %v", err)
	}
	return names(found)
}

func names(found []session.Snapshot) []string {
	var ids []string
	for _, s := range found {
		ids = append(ids, string(s.Session.Host)+"/"+s.Session.SessionID)
	}
	return ids
}

func (f *fixture) samples(key session.Key, limit int) []session.Sample {
	f.t.Helper()
	samples, err := f.store.Samples(f.t.Context(), key, limit)
	if err != nil {
		f.t.Fatalf("Samples: %v", err)
	}
	return samples
}

func (f *fixture) fleet(windowTasks int) fleet.Fleet {
	f.t.Helper()
	fleet, err := f.store.Fleet(f.t.Context(), windowTasks)
	if err != nil {
		f.t.Fatalf("Fleet: %v", err)
	}
	return fleet
}

func (f *fixture) windows() []session.LearnedWindow {
	f.t.Helper()
	windows, err := f.store.Windows(f.t.Context())
	if err != nil {
		f.t.Fatalf("Windows: %v", err)
	}
	return windows
}

// want fails the test where got is not want. No elements and no slice are the same.
func (f *fixture) want(what string, got, want any) {
	f.t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		f.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// wantCode fails the test where err does not carry code.
func (f *fixture) wantCode(what string, err error, code coded.Code) {
	f.t.Helper()
	if got := coded.CodeOf(err); got != code {
		f.t.Errorf("%s: %v (code %q), want code %q", what, err, got, code)
	}
}

// noon is when the tests begin.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// after returns noon and some seconds.
func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// key identifies a session of Claude Code.
func key(id string) session.Key { return session.Key{Host: session.HostClaudeCode, SessionID: id} }

// session returns a small session of Claude Code, last heard of some seconds after noon.
func newSession(id string, seconds int) session.Session {
	return session.Session{Host: session.HostClaudeCode, SessionID: id, CWD: "/work/" + id, StartedAt: noon, UpdatedAt: after(seconds)}
}

// full returns a session in which every field, also in nested structures, has a different value.
func full(id string) session.Session {
	var s session.Session
	fill(reflect.ValueOf(&s).Elem(), new(int))
	s.Host, s.SessionID, s.CWD = session.HostClaudeCode, id, "/home/ada/engine"
	s.Title = "notes on the \"engine\" \u2028 <b>"
	return s
}

// fill sets v and all its fields to values that count up from n.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(math.MaxInt32 + int64(*n))
	case reflect.Uint64:
		v.SetUint(math.MaxUint64 - uint64(*n))
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Struct:
		if _, ok := v.Interface().(time.Time); ok {
			v.Set(reflect.ValueOf(after(*n)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic("no value for a " + v.Type().String())
	}
}

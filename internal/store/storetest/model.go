package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"pgregory.net/rapid"
)

// model is a simple store made of slices, whose correctness is easy to see.
type reference struct {
	sessions map[session.Key]session.Snapshot // of sessions saved at different times
	tasks    []fleet.Task                     // oldest first
}

// checkModel runs the same random updates on a store and on the model, and compares all that can be read after each.
func checkModel(t *testing.T, open Open) {
	rapid.Check(t, func(rt *rapid.T) {
		f := &fixture{t, open(t)}
		defer f.store.Close()
		m := reference{sessions: map[session.Key]session.Snapshot{}}
		ring := rapid.IntRange(1, 4).Draw(rt, "ring")
		most := rapid.IntRange(0, 4).Draw(rt, "most")
		id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		w := watcher{}
		for now := range rapid.IntRange(1, 25).Draw(rt, "updates") {
			k := key(id.Draw(rt, "session"))
			var changes session.Changes
			switch rapid.IntRange(0, 9).Draw(rt, "change") {
			case 0:
				changes.Delete = true
			case 1, 2, 3:
				changes.Task = &fleet.Task{ID: id.Draw(rt, "task"), Tokens: rapid.IntRange(0, 5).Draw(rt, "tokens"), At: noon}
				changes.WindowTasks = ring
			default:
				changes.Session = ptr(newSession(k.SessionID, now))
				changes.MaxSessions = most
				for range rapid.IntRange(0, 4).Draw(rt, "paths") {
					changes.Paths = append(changes.Paths, session.PathUse{
						Path: id.Draw(rt, "path"), Use: session.Use(rapid.IntRange(1, 3).Draw(rt, "use")), At: after(rapid.IntRange(0, 3).Draw(rt, "at")),
					})
				}
			}
			task := id.Draw(rt, "asked")
			state := f.decide(core.Query{Key: k, WorkingSet: true, Task: named(task), TaskThreshold: 2, WindowTasks: ring},
				func(session.State) session.Changes { return changes })
			f.want("State", state, m.state(k, task, ring))
			m.apply(k, changes)
			f.want("Sessions", f.ids(core.SessionFilter{}), m.ids())
			f.want("tasks", f.fleet(ring).Tokens, m.tokens())
			if rapid.Bool().Draw(rt, "watch") {
				w.follow(f)
				f.want("what a watcher knows", w.known, m.sessions)
			}
			if t.Failed() {
				rt.Fatalf("after update %d: %+v of %v", now, changes, k)
			}
		}
	})
}

// watcher is a client's state, built only from the changes in the feed.
type watcher struct {
	known map[session.Key]session.Snapshot
	last  int64
}

func (w *watcher) follow(f *fixture) {
	feed := f.changed(w.last)
	f.want("Whole", feed.Whole, w.last == 0)
	if feed.Whole {
		w.known = map[session.Key]session.Snapshot{}
	}
	for _, key := range feed.Removed {
		delete(w.known, key)
	}
	for _, s := range feed.Sessions {
		w.known[s.Session.Key()] = s
	}
	w.last = feed.Revision
}

func (m *reference) state(k session.Key, task string, ring int) session.State {
	state := session.State{Snapshot: m.sessions[k]}
	_, state.Known = m.sessions[k]
	for _, t := range m.tasks {
		state.Tasks.Tasks++
		if t.Tokens > 2 {
			state.Tasks.Exceeding++
		}
		if t.ID == task {
			state.Tasks.IsRecorded, state.Tasks.Recorded = true, t.Tokens
		}
	}
	state.Tasks.Full = len(m.tasks) == ring
	state.Tasks.OldestExceeds = state.Tasks.Full && m.tasks[0].Tokens > 2
	return state
}

func (m *reference) apply(k session.Key, changes session.Changes) {
	if changes.Delete {
		delete(m.sessions, k)
	}
	if changes.Session != nil {
		snapshot := m.sessions[k]
		snapshot.Session = *changes.Session
		snapshot.WorkingSet = slices.Clone(snapshot.WorkingSet)
		for _, use := range changes.Paths {
			i := slices.IndexFunc(snapshot.WorkingSet, func(have session.PathUse) bool { return have.Path == use.Path })
			if i < 0 {
				snapshot.WorkingSet = append(snapshot.WorkingSet, use)
				continue
			}
			have := &snapshot.WorkingSet[i]
			have.Use = max(have.Use, use.Use)
			if use.At.After(have.At) {
				have.At = use.At
			}
		}
		slices.SortFunc(snapshot.WorkingSet, func(a, b session.PathUse) int {
			return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Use, a.Use), cmp.Compare(a.Path, b.Path))
		})
		m.sessions[k] = snapshot
		if newest := m.newest(); changes.MaxSessions > 0 && len(newest) > changes.MaxSessions {
			for _, s := range newest[changes.MaxSessions:] {
				delete(m.sessions, s.Key())
			}
		}
	}
	if task := changes.Task; task != nil {
		i := slices.IndexFunc(m.tasks, func(have fleet.Task) bool { return have.ID == task.ID })
		if i >= 0 {
			m.tasks[i].Tokens = max(m.tasks[i].Tokens, task.Tokens)
			return
		}
		m.tasks = append(m.tasks, *task)
		m.tasks = m.tasks[max(0, len(m.tasks)-changes.WindowTasks):]
	}
}

func (m *reference) newest() []session.Session {
	var all []session.Session
	for _, s := range m.sessions {
		all = append(all, s.Session)
	}
	slices.SortFunc(all, func(a, b session.Session) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return all
}

func (m *reference) ids() (ids []string) {
	for _, s := range m.newest() {
		ids = append(ids, fmt.Sprintf("%s/%s", s.Host, s.SessionID))
	}
	return ids
}

func (m *reference) tokens() (tokens []int) {
	for _, t := range slices.Backward(m.tasks) {
		tokens = append(tokens, t.Tokens)
	}
	return tokens
}

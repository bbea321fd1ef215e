package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
)

// task records a task in a ring of the given length.
func (f *fixture) task(id string, tokens, ring int) {
	f.t.Helper()
	f.update(session.Key{}, session.Changes{Task: &fleet.Task{ID: id, Tokens: tokens, At: noon}, WindowTasks: ring})
}

// named returns the Query.Task of a task whose id does not depend on the session.
func named(id string) func(session.Session) string { return func(session.Session) string { return id } }

// sums returns the sums of a ring of the given length with a threshold of 100 tokens.
func (f *fixture) sums(id string, ring int) fleet.TaskSums {
	f.t.Helper()
	return f.load(core.Query{Task: named(id), TaskThreshold: 100, WindowTasks: ring}).Tasks
}

var taskTests = map[string]func(*testing.T, *fixture){
	"an empty ring": func(t *testing.T, f *fixture) {
		f.want("sums", f.sums("t", 3), fleet.TaskSums{})
		f.want("fleet", f.fleet(3), fleet.Fleet{})
	},
	"the ring fills and turns": func(t *testing.T, f *fixture) {
		f.task("t1", 150, 3)
		f.task("t2", 100, 3) // at the threshold is not above it
		f.want("not full", f.sums("new", 3), fleet.TaskSums{Tasks: 2, Exceeding: 1})
		f.task("t3", 300, 3)
		f.want("exactly full", f.sums("new", 3), fleet.TaskSums{Tasks: 3, Exceeding: 2, Full: true, OldestExceeds: true})
		f.want("exactly full, for a repeat", f.sums("t3", 3),
			fleet.TaskSums{Tasks: 3, Exceeding: 2, Recorded: 300, IsRecorded: true, Full: true, OldestExceeds: true})
		f.task("t4", 101, 3)
		f.want("the oldest fell out", f.sums("t1", 3), fleet.TaskSums{Tasks: 3, Exceeding: 2, Full: true})
		f.want("newest first", f.fleet(3).Tokens, []int{101, 300, 100})
	},
	"a repeat keeps the larger figure and its place": func(t *testing.T, f *fixture) {
		f.task("t1", 50, 3)
		f.task("t2", 60, 3)
		f.task("t3", 70, 3)
		f.task("t1", 40, 3)
		f.want("a smaller one", f.fleet(3).Tokens, []int{70, 60, 50})
		f.task("t1", 500, 3)
		f.want("a larger one", f.fleet(3).Tokens, []int{70, 60, 500})
		f.want("sums", f.sums("t1", 3), fleet.TaskSums{Tasks: 3, Exceeding: 1, Recorded: 500, IsRecorded: true, Full: true, OldestExceeds: true})
		f.task("t4", 80, 3)
		f.want("t1 was still the oldest", f.fleet(3).Tokens, []int{80, 70, 60})
		f.task("t1", 5, 3)
		f.want("and is a new task now", f.fleet(3).Tokens, []int{5, 80, 70})
	},
	"imported tasks fill the room below what is recorded": func(t *testing.T, f *fixture) {
		at := func(hours int) time.Time { return noon.Add(time.Duration(hours) * time.Hour) }
		other := key("of a record")
		tasks := []core.ImportedTask{
			{Key: other, Tokens: 10, At: at(1)}, {Key: key("s1"), Tokens: 90, At: at(9)}, {Key: other, Tokens: 30, At: at(3)}, {Key: other, Tokens: 20, At: at(2)},
		}
		imports := func(what string, tasks []core.ImportedTask, want int) {
			t.Helper()
			kept, err := f.store.ImportTasks(t.Context(), tasks, 4)
			if err != nil {
				t.Fatal(err)
			}
			f.want(what, kept, want)
		}
		f.task(session.TurnTaskPrefix(key("s1"))+"1", 100, 4)
		imports("those of a session that the ring knows are left out", tasks, 3)
		f.want("newest first", f.fleet(4).Tokens, []int{100, 30, 20, 10})
		imports("again", tasks, 3)
		f.want("nothing is counted twice", f.fleet(4).Tokens, []int{100, 30, 20, 10})
		f.task("t2", 200, 4)
		f.want("the oldest imported one falls out first", f.fleet(4).Tokens, []int{200, 100, 30, 20})
		imports("there is room for two", tasks, 2)
		f.teach(session.Calibration{Model: "m", Encoding: "e", Kept: 1, Imported: true})
		f.teach(session.Calibration{Model: "o", Encoding: "e", Kept: 2})
		imports("forgetting them", nil, 0)
		f.want("what an import taught is gone", f.calibration("m", "e"), session.Calibration{Model: "m", Encoding: "e"})
		f.want("what hooks taught stays", f.calibration("o", "e"), session.Calibration{Model: "o", Encoding: "e", Kept: 2})
		f.want("what was recorded stays", f.fleet(4).Tokens, []int{200, 100})
		f.want("sums", f.sums("t2", 4), fleet.TaskSums{Tasks: 2, Exceeding: 1, Recorded: 200, IsRecorded: true})
	},
	"tasks of zero tokens count": func(t *testing.T, f *fixture) {
		f.task("t1", 0, 3)
		f.want("sums", f.sums("t1", 3), fleet.TaskSums{Tasks: 1, IsRecorded: true})
		f.want("fleet", f.fleet(3).Tokens, []int{0})
	},
	"a ring of one": func(t *testing.T, f *fixture) {
		f.task("t1", 500, 1)
		f.want("sums", f.sums("t2", 1), fleet.TaskSums{Tasks: 1, Exceeding: 1, Full: true, OldestExceeds: true})
		f.task("t2", 1, 1)
		f.want("fleet", f.fleet(1).Tokens, []int{1})
	},
	"a ring made shorter": func(t *testing.T, f *fixture) {
		for i := range 10 {
			f.task(fmt.Sprint("t", i), 200-i, 10)
		}
		f.want("sums see its last tasks", f.sums("t0", 3), fleet.TaskSums{Tasks: 3, Exceeding: 3, Full: true, OldestExceeds: true})
		f.want("so does the fleet", f.fleet(3).Tokens, []int{191, 192, 193})
		f.task("t0", 7, 3)
		f.want("one beyond its end is new", f.fleet(10).Tokens, []int{7, 191, 192})
		f.task("a", 8, 5)
		f.task("b", 9, 5)
		f.want("and longer again", f.fleet(10).Tokens, []int{9, 8, 7, 191, 192})
	},
	"no bound": func(t *testing.T, f *fixture) {
		for i := range 1500 {
			f.task(fmt.Sprint("t", i), i, 0)
		}
		f.want("fleet", len(f.fleet(0).Tokens), 1500)
		f.want("sums", f.sums("t7", 0), fleet.TaskSums{Tasks: 1500, Exceeding: 1399, Recorded: 7, IsRecorded: true})
	},
	"since the oldest": func(t *testing.T, f *fixture) {
		for i := range 5 {
			f.update(session.Key{}, session.Changes{Task: &fleet.Task{ID: fmt.Sprint("t", i), At: after(i)}, WindowTasks: 3})
		}
		f.update(session.Key{}, session.Changes{Task: &fleet.Task{ID: "t2", At: after(60)}, WindowTasks: 3})
		f.want("Since", f.fleet(3).Since, after(2))
	},
	"the sums are read only where a task is named": func(t *testing.T, f *fixture) {
		f.task("t1", 500, 3)
		f.want("the empty name", f.sums("", 3), fleet.TaskSums{})
		f.want("no name", f.load(core.Query{TaskThreshold: 100, WindowTasks: 3}).Tasks, fleet.TaskSums{})
	},
	"the task may depend on the stored session": func(t *testing.T, f *fixture) {
		s := newSession("s1", 0)
		s.Turns = 7
		f.save(s)
		f.task("s1/7", 500, 3)
		turn := func(s session.Session) string { return fmt.Sprint(s.SessionID, "/", s.Turns) }
		state := f.load(core.Query{Key: key("s1"), Task: turn, TaskThreshold: 100, WindowTasks: 3})
		f.want("sums", state.Tasks, fleet.TaskSums{Tasks: 1, Exceeding: 1, Recorded: 500, IsRecorded: true})
	},
	"trims add up": func(t *testing.T, f *fixture) {
		for range 3 {
			f.update(session.Key{}, session.Changes{Trim: &fleet.TrimCount{Operations: 1, Tokens: 20_000}})
		}
		f.want("Trim", f.fleet(0).Trim, fleet.TrimCount{Operations: 3, Tokens: 60_000})
	},
	"the alert gate": func(t *testing.T, f *fixture) {
		gate := fleet.AlertGate{At: after(5), Rate: 0.125}
		f.update(session.Key{}, session.Changes{Alert: &gate, Trim: &fleet.TrimCount{Operations: 1, Tokens: 2}})
		f.want("Fleet", f.fleet(0).Alert, gate)
		f.want("State", f.load(core.Query{Task: named("t"), WindowTasks: 3}).Alert, gate)
		f.update(session.Key{}, session.Changes{Trim: &fleet.TrimCount{Operations: 1, Tokens: 2}})
		f.want("Fleet", f.fleet(0), fleet.Fleet{Alert: gate, Trim: fleet.TrimCount{Operations: 2, Tokens: 4}})
	},
}

var windowTests = map[string]func(*testing.T, *fixture){
	"what is learned replaces what was, and nothing removes it": func(t *testing.T, f *fixture) {
		at := session.Key{Host: session.HostCodex, SessionID: "any"}
		for i, want := range []session.LearnedWindow{{AcceptedTokens: 250_000}, {AcceptedTokens: 210_000}, {StatedTokens: 272_000}, {AcceptedTokens: 260_000}, {StatedTokens: 200_000}} {
			want.Host, want.Provider, want.Model, want.Why, want.At = session.HostCodex, "openai", "gpt-5", fmt.Sprint("proof ", i), after(i)
			f.update(session.Key{}, session.Changes{Learned: &want})
			f.want("Windows", f.windows(), []session.LearnedWindow{want})
			f.want("State", f.load(core.Query{Key: at, Provider: "openai", Model: "gpt-5"}).Learned, want)
		}
		f.update(session.Key{}, session.Changes{Learned: &session.LearnedWindow{Host: session.HostCodex, Provider: "openai", Model: "gpt-4"}})
		f.want("after another was removed", len(f.windows()), 1)
		f.update(session.Key{}, session.Changes{Learned: &session.LearnedWindow{Host: session.HostCodex, Provider: "openai", Model: "gpt-5", Why: "gone", At: noon}})
		f.want("Windows", f.windows(), []session.LearnedWindow(nil))
		f.want("State", f.load(core.Query{Key: at, Provider: "openai", Model: "gpt-5"}).Learned, session.LearnedWindow{})
	},
	"kept by host, provider and model": func(t *testing.T, f *fixture) {
		var want []session.LearnedWindow
		for _, w := range []session.LearnedWindow{
			{Host: "claude-code", Provider: "amazon-bedrock", Model: "m"},
			{Host: "claude-code", Provider: "anthropic", Model: "m"},
			{Host: "claude-code", Provider: "anthropic", Model: "n"},
			{Host: "opencode", Provider: "anthropic", Model: "m"},
		} {
			w.AcceptedTokens, w.At = len(want)+1, noon
			want = append(want, w)
			f.update(session.Key{}, session.Changes{Learned: &w})
		}
		f.want("Windows", f.windows(), want)
		f.want("another model", f.load(core.Query{Key: key("s1"), Provider: "anthropic", Model: "o"}).Learned, session.LearnedWindow{})
	},
	"kept in the plain spelling": func(t *testing.T, f *fixture) {
		const spelled, plain = "us.anthropic.claude-opus-4-6-v1:0", "claude-opus-4-6"
		if model.Plain(spelled) != plain {
			t.Fatalf("%s is %s", spelled, model.Plain(spelled))
		}
		f.update(session.Key{}, session.Changes{Learned: &session.LearnedWindow{Host: session.HostClaudeCode, Provider: "amazon-bedrock", Model: spelled, AcceptedTokens: 1}})
		f.want("Windows", f.windows()[0].Model, plain)
		f.want("State", f.load(core.Query{Key: key("s1"), Provider: "amazon-bedrock", Model: spelled}).Learned.AcceptedTokens, 1)
	},
	"of the stored session, where the query does not say": func(t *testing.T, f *fixture) {
		s := newSession("s1", 0)
		s.Provider, s.Model = "anthropic", "claude-opus-4-6"
		f.save(s)
		for i, w := range []session.LearnedWindow{
			{Provider: "anthropic", Model: "claude-opus-4-6"}, {Provider: "anthropic", Model: "claude-haiku-4-5"},
			{Provider: "google", Model: "claude-opus-4-6"}, {Provider: "google", Model: "claude-haiku-4-5"},
		} {
			w.Host, w.AcceptedTokens = session.HostClaudeCode, i+1
			f.update(session.Key{}, session.Changes{Learned: &w})
		}
		for i, q := range []core.Query{{}, {Model: "claude-haiku-4-5"}, {Provider: "google"}, {Provider: "google", Model: "claude-haiku-4-5"}} {
			q.Key = key("s1")
			f.want(fmt.Sprintf("%+v", q), f.load(q).Learned.AcceptedTokens, i+1)
		}
		f.want("an unknown session", f.load(core.Query{Key: key("s2")}).Learned, session.LearnedWindow{})
	},
}

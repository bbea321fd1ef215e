package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
)

var sessionTests = map[string]func(*testing.T, *fixture){
	"what is saved comes back whole": func(t *testing.T, f *fixture) {
		want := full("s1")
		f.save(want)
		f.want("Session", f.session(want.Key()), core.Snapshot{Session: want})
		state := f.load(core.Query{Key: want.Key()})
		f.want("State", state, core.State{Known: true, Snapshot: core.Snapshot{Session: want}})
	},
	"a session is replaced as a whole": func(t *testing.T, f *fixture) {
		f.save(full("s1"), session("s1", 20))
		f.want("Session", f.session(key("s1")).Session, session("s1", 20))
	},
	"bytes of names are kept as they are": func(t *testing.T, f *fixture) {
		for _, id := range []string{"", "a%_b", "' ; DROP TABLE sessions", "caf\u00e9", "\xff\xfe", "a\x00b"} {
			want := core.Session{Host: "some host", SessionID: id, CWD: "/tmp/" + id}
			f.save(want)
			f.want("Session", f.session(want.Key()).Session, want)
		}
	},
	"an unknown session": func(t *testing.T, f *fixture) {
		_, err := f.store.Session(t.Context(), key("nobody"))
		f.wantCode("Session", err, core.CodeNotFound)
		f.want("State", f.load(core.Query{Key: key("nobody"), WorkingSet: true}), core.State{})
		f.want("Samples", f.samples(key("nobody"), 0), []core.Sample(nil))
		f.update(key("nobody"), core.Changes{Delete: true}) // is no error
	},
	"one id in two hosts is two sessions": func(t *testing.T, f *fixture) {
		other := session("s1", 30)
		other.Host = core.HostCodex
		f.save(session("s1", 20), other, session("s2", 40))
		f.want("Session", f.session(other.Key()).Session, other)
		found, err := f.store.FindSessions(t.Context(), "s1")
		if err != nil {
			t.Fatal(err)
		}
		f.want("FindSessions", names(found), []string{"codex/s1", "claude-code/s1"})
		found, err = f.store.FindSessions(t.Context(), "s%")
		if err != nil {
			t.Fatal(err)
		}
		f.want("FindSessions of a pattern", names(found), []string(nil))
	},
	"deleting forgets everything of the session and nothing else": func(t *testing.T, f *fixture) {
		for i, id := range []string{"s1", "s2"} {
			f.update(key(id), core.Changes{
				Session: ptr(session(id, i)),
				Paths:   []core.PathUse{{Path: "a.go", Use: core.Read, At: noon}},
				Samples: []core.Sample{{At: noon, Tokens: 1, Kind: core.SampleUsage}},
				Task:    &core.Task{ID: core.TurnTaskPrefix(key(id)) + "1", Tokens: 10, At: noon},
			})
		}
		f.update(key("s1"), core.Changes{Delete: true})
		f.want("Sessions", f.ids(core.SessionFilter{IncludeEnded: true}), []string{"claude-code/s2"})
		f.want("Samples", len(f.samples(key("s1"), 0)), 0)
		f.save(session("s1", 50)) // the same id again is a new session
		f.want("Session", f.session(key("s1")), core.Snapshot{Session: session("s1", 50)})
		f.want("Samples", len(f.samples(key("s1"), 0)), 0)
		f.want("Samples of the other", len(f.samples(key("s2"), 0)), 1)
		f.want("paths of the other", len(f.session(key("s2")).WorkingSet), 1)
		// What its turns held stays in the fleet's figures, without a name: a turn of the new session is another task.
		f.want("the fleet's tasks", f.fleet(10).Tokens, []int{10, 10})
		f.update(key("s1"), core.Changes{Task: &core.Task{ID: core.TurnTaskPrefix(key("s1")) + "1", Tokens: 5, At: noon}})
		f.want("the fleet's tasks after a new turn", f.fleet(10).Tokens, []int{5, 10, 10})
	},
	"delete and save at once starts anew": func(t *testing.T, f *fixture) {
		f.update(key("s1"), core.Changes{Session: ptr(full("s1")), Paths: []core.PathUse{{Path: "a", Use: core.Read, At: noon}}})
		f.update(key("s1"), core.Changes{Delete: true, Session: ptr(session("s1", 60)), Paths: []core.PathUse{{Path: "b", Use: core.Read, At: noon}}})
		f.want("Session", f.session(key("s1")), core.Snapshot{Session: session("s1", 60), WorkingSet: []core.PathUse{{Path: "b", Use: core.Read, At: noon}}})
	},
	"the longest silent go": func(t *testing.T, f *fixture) {
		for i, seconds := range []int{50, 10, 40, 20, 30} {
			id := fmt.Sprint("s", i)
			f.update(key(id), core.Changes{
				Session: ptr(session(id, seconds)),
				Paths:   []core.PathUse{{Path: "a", Use: core.Read, At: noon}},
				Samples: []core.Sample{{At: noon, Kind: core.SampleUsage}},
			})
		}
		f.update(key("s5"), core.Changes{Session: ptr(session("s5", 60)), MaxSessions: 3})
		f.want("Sessions", f.ids(core.SessionFilter{}), []string{"claude-code/s5", "claude-code/s0", "claude-code/s2"})
		f.want("Samples of one that went", len(f.samples(key("s1"), 0)), 0)
		f.want("Samples of one that stayed", len(f.samples(key("s0"), 0)), 1)
		f.save(session("s6", 70), session("s7", 80)) // 0 keeps all
		f.want("Sessions", len(f.ids(core.SessionFilter{})), 5)
		f.update(key("s8"), core.Changes{MaxSessions: 1}) // without Session: nothing
		f.want("Sessions", len(f.ids(core.SessionFilter{})), 5)
	},
	"the session just saved stays, whatever its time": func(t *testing.T, f *fixture) {
		f.save(session("s1", 100), session("s2", 200))
		f.update(key("s3"), core.Changes{Session: ptr(core.Session{Host: core.HostClaudeCode, SessionID: "s3"}), MaxSessions: 2})
		f.want("Sessions", f.ids(core.SessionFilter{}), []string{"claude-code/s2", "claude-code/s3"})
	},
}

var filterTests = map[string]func(*testing.T, *fixture){
	"by folder": func(t *testing.T, f *fixture) {
		for i, cwd := range []string{"/a/b", "/a/b/c", "/a/bc", "/a", "/A/b", "/a%/b", "/a_/b", "/ax/b", "/", ""} {
			f.save(core.Session{Host: core.HostGeneric, SessionID: cwd, CWD: cwd, UpdatedAt: after(-i)})
		}
		for _, test := range []struct {
			folders []string
			want    []string
		}{
			{[]string{"/a/b"}, []string{"/a/b", "/a/b/c"}},
			{[]string{"/a/b/"}, []string{"/a/b", "/a/b/c"}},
			{[]string{"/a"}, []string{"/a/b", "/a/b/c", "/a/bc", "/a"}},
			{[]string{"/a%"}, []string{"/a%/b"}},
			{[]string{"/a_"}, []string{"/a_/b"}},
			{[]string{"/a/b/c/d"}, nil},
			{[]string{"/"}, []string{"/a/b", "/a/b/c", "/a/bc", "/a", "/A/b", "/a%/b", "/a_/b", "/ax/b", "/"}},
			{[]string{"/ax", "/a/b/c", "/a/b"}, []string{"/a/b", "/a/b/c", "/ax/b"}},
			{[]string{""}, nil},
			{nil, []string{"/a/b", "/a/b/c", "/a/bc", "/a", "/A/b", "/a%/b", "/a_/b", "/ax/b", "/", ""}},
		} {
			var want []string
			for _, cwd := range test.want {
				want = append(want, "generic/"+cwd)
			}
			f.want(fmt.Sprintf("Sessions in %q", test.folders), f.ids(core.SessionFilter{Folders: test.folders}), want)
		}
	},
	"by host, end and number": func(t *testing.T, f *fixture) {
		ended, codex := session("ended", 30), session("s3", 10)
		ended.EndedAt = after(30)
		codex.Host = core.HostCodex
		f.save(session("s1", 20), ended, codex, session("s2", 40))
		f.want("the zero filter", f.ids(core.SessionFilter{}), []string{"claude-code/s2", "claude-code/s1", "codex/s3"})
		f.want("with the ended", f.ids(core.SessionFilter{IncludeEnded: true}), []string{"claude-code/s2", "claude-code/ended", "claude-code/s1", "codex/s3"})
		f.want("of a host", f.ids(core.SessionFilter{Host: core.HostCodex}), []string{"codex/s3"})
		f.want("the first two", f.ids(core.SessionFilter{Limit: 2}), []string{"claude-code/s2", "claude-code/s1"})
		f.want("the first in a folder", f.ids(core.SessionFilter{Folders: []string{"/work/s1", "/work/s3"}, Limit: 1}), []string{"claude-code/s1"})
		f.want("more than there are", len(f.ids(core.SessionFilter{Limit: 9})), 3)

		again := ended
		again.EndedAt = time.Time{} // it was resumed
		f.save(again)
		f.want("a resumed one", len(f.ids(core.SessionFilter{})), 4)
	},
	"sessions come with their working sets": func(t *testing.T, f *fixture) {
		f.update(key("s1"), core.Changes{Session: ptr(session("s1", 0)), Paths: []core.PathUse{{Path: "a", Use: core.Edited, At: noon}}})
		found, err := f.store.Sessions(t.Context(), core.SessionFilter{})
		if err != nil {
			t.Fatal(err)
		}
		f.want("Sessions", found, []core.Snapshot{{Session: session("s1", 0), WorkingSet: []core.PathUse{{Path: "a", Use: core.Edited, At: noon}}}})
	},
}

func ptr[T any](v T) *T { return &v }

package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
)

var sessionTests = map[string]func(*testing.T, *fixture){
	"what is saved comes back whole": func(t *testing.T, f *fixture) {
		want := full("s1")
		f.save(want)
		f.want("Session", f.session(want.Key()), session.Snapshot{Session: want})
		state := f.load(core.Query{Key: want.Key()})
		f.want("State", state, session.State{Known: true, Snapshot: session.Snapshot{Session: want}})
	},
	"a session is replaced as a whole": func(t *testing.T, f *fixture) {
		f.save(full("s1"), newSession("s1", 20))
		f.want("Session", f.session(key("s1")).Session, newSession("s1", 20))
	},
	"bytes of names are kept as they are": func(t *testing.T, f *fixture) {
		for _, id := range []string{"", "a%_b", "' ; DROP TABLE sessions", "caf\u00e9", "\xff\xfe", "a\x00b"} {
			want := session.Session{Host: "some host", SessionID: id, CWD: "/tmp/" + id}
			f.save(want)
			f.want("Session", f.session(want.Key()).Session, want)
		}
	},
	"an unknown session": func(t *testing.T, f *fixture) {
		_, err := f.store.Session(t.Context(), key("nobody"))
		f.wantCode("Session", err, coded.NotFound)
		f.want("State", f.load(core.Query{Key: key("nobody"), WorkingSet: true}), session.State{})
		f.want("Samples", f.samples(key("nobody"), 0), []session.Sample(nil))
		f.update(key("nobody"), session.Changes{Delete: true}) // is no error
	},
	"a session that is stored or was forgotten is taken": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 20), newSession("s2", 30))
		f.update(key("s2"), session.Changes{Delete: true})
		f.update(key("of a record"), session.Changes{Delete: true})
		taken, err := f.store.Taken(t.Context(), []session.Key{key("s1"), key("s2"), key("of a record"), key("s3"), {Host: session.HostCodex, SessionID: "s1"}})
		if err != nil {
			t.Fatal(err)
		}
		f.want("Taken", taken, map[session.Key]bool{key("s1"): true, key("s2"): true, key("of a record"): true})
	},
	"one id in two hosts is two sessions": func(t *testing.T, f *fixture) {
		other := newSession("s1", 30)
		other.Host = session.HostCodex
		f.save(newSession("s1", 20), other, newSession("s2", 40))
		f.want("Session", f.session(other.Key()).Session, other)
		found, err := f.store.FindSessions(t.Context(), "s1")
		if err != nil {
			t.Fatal(err)
		}
		f.want("FindSessions", found, []session.Session{other, newSession("s1", 20)})
		found, err = f.store.FindSessions(t.Context(), "s%")
		if err != nil {
			t.Fatal(err)
		}
		f.want("FindSessions of a pattern", found, []session.Session(nil))
	},
	"deleting forgets everything of the session and nothing else": func(t *testing.T, f *fixture) {
		for i, id := range []string{"s1", "s2"} {
			f.update(key(id), session.Changes{
				Session: ptr(newSession(id, i)),
				Paths:   []session.PathUse{{Path: "a.go", Use: session.Read, At: noon}},
				Samples: []session.Sample{{At: noon, Tokens: 1, Kind: session.SampleUsage}},
				Task:    &fleet.Task{ID: session.TurnTaskPrefix(key(id)) + "1", Tokens: 10, At: noon},
			})
		}
		f.update(key("s1"), session.Changes{Delete: true})
		f.want("Sessions", f.ids(core.SessionFilter{IncludeEnded: true}), []string{"claude-code/s2"})
		f.want("Samples", len(f.samples(key("s1"), 0)), 0)
		f.save(newSession("s1", 50)) // the same id again is a new session
		f.want("Session", f.session(key("s1")), session.Snapshot{Session: newSession("s1", 50)})
		f.want("Samples", len(f.samples(key("s1"), 0)), 0)
		f.want("Samples of the other", len(f.samples(key("s2"), 0)), 1)
		f.want("paths of the other", len(f.session(key("s2")).WorkingSet), 1)
		// What its turns held stays in the fleet's figures, without a name: a turn of the new session is another task.
		f.want("the fleet's tasks", f.fleet(10).Tokens, []int{10, 10})
		f.update(key("s1"), session.Changes{Task: &fleet.Task{ID: session.TurnTaskPrefix(key("s1")) + "1", Tokens: 5, At: noon}})
		f.want("the fleet's tasks after a new turn", f.fleet(10).Tokens, []int{5, 10, 10})
	},
	"delete and save at once starts anew": func(t *testing.T, f *fixture) {
		f.update(key("s1"), session.Changes{Session: ptr(full("s1")), Paths: []session.PathUse{{Path: "a", Use: session.Read, At: noon}}})
		f.update(key("s1"), session.Changes{Delete: true, Session: ptr(newSession("s1", 60)), Paths: []session.PathUse{{Path: "b", Use: session.Read, At: noon}}})
		f.want("Session", f.session(key("s1")), session.Snapshot{Session: newSession("s1", 60), WorkingSet: []session.PathUse{{Path: "b", Use: session.Read, At: noon}}})
	},
	"the longest silent go": func(t *testing.T, f *fixture) {
		for i, seconds := range []int{50, 10, 40, 20, 30} {
			id := fmt.Sprint("s", i)
			f.update(key(id), session.Changes{
				Session: ptr(newSession(id, seconds)),
				Paths:   []session.PathUse{{Path: "a", Use: session.Read, At: noon}},
				Samples: []session.Sample{{At: noon, Kind: session.SampleUsage}},
			})
		}
		f.update(key("s5"), session.Changes{Session: ptr(newSession("s5", 60)), MaxSessions: 3})
		f.want("Sessions", f.ids(core.SessionFilter{}), []string{"claude-code/s5", "claude-code/s0", "claude-code/s2"})
		f.want("Samples of one that went", len(f.samples(key("s1"), 0)), 0)
		f.want("Samples of one that stayed", len(f.samples(key("s0"), 0)), 1)
		f.save(newSession("s6", 70), newSession("s7", 80)) // 0 keeps all
		f.want("Sessions", len(f.ids(core.SessionFilter{})), 5)
		f.update(key("s8"), session.Changes{MaxSessions: 1}) // without Session: nothing
		f.want("Sessions", len(f.ids(core.SessionFilter{})), 5)
	},
	"the session just saved stays, whatever its time": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 100), newSession("s2", 200))
		f.update(key("s3"), session.Changes{Session: ptr(session.Session{Host: session.HostClaudeCode, SessionID: "s3"}), MaxSessions: 2})
		f.want("Sessions", f.ids(core.SessionFilter{}), []string{"claude-code/s2", "claude-code/s3"})
	},
}

var filterTests = map[string]func(*testing.T, *fixture){
	"by folder": func(t *testing.T, f *fixture) {
		// Of two letters, since /a is a drive on Windows; there case does not count either.
		for i, cwd := range []string{"/aa/b", "/aa/b/c", "/aa/bc", "/aa", "/Aa/b", "/a%/b", "/a_/b", "/ax/b", "/", ""} {
			f.save(session.Session{Host: session.HostGeneric, SessionID: cwd, CWD: cwd, UpdatedAt: after(-i)})
		}
		for _, test := range []struct {
			folders []string
			want    []string
		}{
			{[]string{"/aa/b"}, []string{"/aa/b", "/aa/b/c", "/Aa/b"}},
			{[]string{"/aa/b/"}, []string{"/aa/b", "/aa/b/c", "/Aa/b"}},
			{[]string{"/aa"}, []string{"/aa/b", "/aa/b/c", "/aa/bc", "/aa", "/Aa/b"}},
			{[]string{"/a%"}, []string{"/a%/b"}},
			{[]string{"/a_"}, []string{"/a_/b"}},
			{[]string{"/aa/b/c/d"}, nil},
			{[]string{"/"}, []string{"/aa/b", "/aa/b/c", "/aa/bc", "/aa", "/Aa/b", "/a%/b", "/a_/b", "/ax/b", "/"}},
			{[]string{"/ax", "/aa/b/c", "/aa/b"}, []string{"/aa/b", "/aa/b/c", "/Aa/b", "/ax/b"}},
			{[]string{""}, nil},
			{nil, []string{"/aa/b", "/aa/b/c", "/aa/bc", "/aa", "/Aa/b", "/a%/b", "/a_/b", "/ax/b", "/", ""}},
		} {
			var want []string
			for _, cwd := range test.want {
				if cwd == "/Aa/b" && len(test.folders) > 0 && test.folders[0] != "/" && !pathname.OnWindows {
					continue
				}
				want = append(want, "generic/"+cwd)
			}
			f.want(fmt.Sprintf("Sessions in %q", test.folders), f.ids(core.SessionFilter{Folders: test.folders}), want)
		}
	},
	"by host, end and number": func(t *testing.T, f *fixture) {
		ended, codex := newSession("ended", 30), newSession("s3", 10)
		ended.EndedAt = after(30)
		codex.Host = session.HostCodex
		f.save(newSession("s1", 20), ended, codex, newSession("s2", 40))
		f.want("the zero filter", f.ids(core.SessionFilter{}), []string{"claude-code/s2", "claude-code/s1", "codex/s3"})
		f.want("with the ended", f.ids(core.SessionFilter{IncludeEnded: true}), []string{"claude-code/s2", "claude-code/ended", "claude-code/s1", "codex/s3"})
		f.want("of a host", f.ids(core.SessionFilter{Host: session.HostCodex}), []string{"codex/s3"})
		f.want("the first two", f.ids(core.SessionFilter{Limit: 2}), []string{"claude-code/s2", "claude-code/s1"})
		f.want("the first in a folder", f.ids(core.SessionFilter{Folders: []string{"/work/s1", "/work/s3"}, Limit: 1}), []string{"claude-code/s1"})
		f.want("more than there are", len(f.ids(core.SessionFilter{Limit: 9})), 3)

		again := ended
		again.EndedAt = time.Time{} // it was resumed
		f.save(again)
		f.want("a resumed one", len(f.ids(core.SessionFilter{})), 4)
	},
	"sessions come with their working sets": func(t *testing.T, f *fixture) {
		f.update(key("s1"), session.Changes{Session: ptr(newSession("s1", 0)), Paths: []session.PathUse{{Path: "a", Use: session.Edited, At: noon}}})
		found, err := f.store.Sessions(t.Context(), core.SessionFilter{})
		if err != nil {
			t.Fatal(err)
		}
		f.want("Sessions", found, []session.Snapshot{{Session: newSession("s1", 0), WorkingSet: []session.PathUse{{Path: "a", Use: session.Edited, At: noon}}}})
	},
}

func ptr[T any](v T) *T { return &v }

package storetest

import (
	"fmt"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
)

// changed returns the changes since a revision.
func (f *fixture) changed(since int64) core.Feed {
	f.t.Helper()
	feed, err := f.store.Changed(f.t.Context(), since)
	if err != nil {
		f.t.Fatalf("Changed: %v", err)
	}
	return feed
}

// news checks that exactly these sessions were saved and removed since a revision. It returns the newest revision.
func (f *fixture) news(since int64, saved, removed []string) int64 {
	f.t.Helper()
	feed := f.changed(since)
	var gone []string
	for _, key := range feed.Removed {
		gone = append(gone, string(key.Host)+"/"+key.SessionID)
	}
	f.want("Sessions", names(feed.Sessions), saved)
	f.want("Removed", gone, removed)
	f.want("Whole", feed.Whole, false)
	if advanced := feed.Revision > since; feed.Revision < since || advanced != (len(saved)+len(removed) > 0) {
		f.t.Errorf("revision %d after %d, with %q saved and %q removed", feed.Revision, since, saved, removed)
	}
	return feed.Revision
}

var feedTests = map[string]func(*testing.T, *fixture){
	"an empty store": func(t *testing.T, f *fixture) {
		feed := f.changed(0)
		f.want("Changed", feed, core.Feed{Revision: feed.Revision, Whole: true})
		f.news(feed.Revision, nil, nil)
	},
	"from the start it is everything, the last saved last": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 50), newSession("s2", 40))
		f.update(key("s1"), session.Changes{Paths: []session.PathUse{{Path: "a.go", Use: session.Read, At: noon}}})
		f.update(key("gone"), session.Changes{Session: ptr(newSession("gone", 0))})
		f.update(key("gone"), session.Changes{Delete: true})
		feed := f.changed(0)
		f.want("Changed", feed, core.Feed{Revision: feed.Revision, Whole: true, Sessions: []session.Snapshot{
			{Session: newSession("s2", 40)},
			{Session: newSession("s1", 50), WorkingSet: []session.PathUse{{Path: "a.go", Use: session.Read, At: noon}}},
		}})
	},
	"saves and removals since": func(t *testing.T, f *fixture) {
		ended := newSession("s1", 5)
		ended.EndedAt = after(5)
		start := f.changed(0).Revision
		f.save(newSession("s1", 0), newSession("s2", 0), newSession("s3", 0))
		last := f.news(start, []string{"claude-code/s1", "claude-code/s2", "claude-code/s3"}, nil)
		f.save(ended)
		last = f.news(last, []string{"claude-code/s1"}, nil)
		f.update(key("s2"), session.Changes{Samples: []session.Sample{{At: noon, Kind: session.SampleUsage}}})
		last = f.news(last, []string{"claude-code/s2"}, nil)
		for range 3 { // many saves are one change
			f.save(newSession("s3", 9))
			f.save(newSession("s2", 9))
		}
		last = f.news(last, []string{"claude-code/s3", "claude-code/s2"}, nil)
		f.update(key("s2"), session.Changes{Delete: true})
		f.update(key("s1"), session.Changes{Delete: true})
		removed := f.news(last, nil, []string{"claude-code/s2", "claude-code/s1"})
		f.news(start, []string{"claude-code/s3"}, []string{"claude-code/s2", "claude-code/s1"})
		f.save(newSession("s2", 10))
		f.news(last, []string{"claude-code/s2"}, []string{"claude-code/s1"})
		f.news(removed, []string{"claude-code/s2"}, nil)
	},
	"deleted and saved at once": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 0))
		last := f.changed(0).Revision
		f.update(key("s1"), session.Changes{Delete: true, Session: ptr(newSession("s1", 1))})
		f.news(last, []string{"claude-code/s1"}, nil)
	},
	"what is no change of a session is no news": func(t *testing.T, f *fixture) {
		last := f.changed(0).Revision
		f.update(key("nobody"), session.Changes{Delete: true})
		f.update(session.Key{}, session.Changes{Trim: &fleet.TrimCount{Operations: 1}, Task: &fleet.Task{ID: "t"}})
		f.load(core.Query{Key: key("nobody")})
		f.news(last, nil, nil)
	},
	"the alert gate is told": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 0))
		gate := fleet.AlertGate{At: noon, Rate: 0.25}
		f.update(session.Key{}, session.Changes{Alert: &gate})
		last := f.changed(0)
		f.want("from the start", last.Alert, gate)
		f.want("without other news", f.changed(last.Revision), core.Feed{Revision: last.Revision, Alert: gate})
	},
	"the oldest that are forgotten are removed": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 1), newSession("s2", 2), newSession("s3", 3))
		last := f.changed(0).Revision
		f.update(key("s4"), session.Changes{Session: ptr(newSession("s4", 4)), MaxSessions: 2})
		feed := f.changed(last)
		f.want("Sessions", names(feed.Sessions), []string{"claude-code/s4"})
		f.want("how many were removed", len(feed.Removed), 2)
	},
	"a watcher that was long away starts over": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 0))
		last := f.changed(0).Revision
		for i := range 1500 {
			id := fmt.Sprint("passing ", i)
			f.update(key(id), session.Changes{Session: ptr(newSession(id, 0))})
			f.update(key(id), session.Changes{Delete: true})
		}
		feed := f.changed(last)
		if !feed.Whole && len(feed.Removed) != 1500 {
			t.Errorf("%d of 1500 removals are told", len(feed.Removed))
		}
		if feed.Whole {
			f.want("all there are", names(feed.Sessions), []string{"claude-code/s1"})
			f.want("removals", feed.Removed, []session.Key(nil))
		}
	},
	"a revision of another store": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 0))
		for _, since := range []int64{1, f.changed(0).Revision + 1_000_000} {
			feed := f.changed(since)
			f.want(fmt.Sprint("since ", since), []any{feed.Whole, names(feed.Sessions)}, []any{true, []string{"claude-code/s1"}})
		}
	},
}

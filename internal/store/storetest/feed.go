package storetest

import (
	"fmt"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
)

// changed returns what has changed since a revision.
func (f *fixture) changed(since int64) core.Feed {
	f.t.Helper()
	feed, err := f.store.Changed(f.t.Context(), since)
	if err != nil {
		f.t.Fatalf("Changed: %v", err)
	}
	return feed
}

// news fails the test where not exactly these sessions were saved and removed since a revision. It returns the newest.
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
		f.save(session("s1", 50), session("s2", 40))
		f.update(key("s1"), core.Changes{Paths: []core.PathUse{{Path: "a.go", Use: core.Read, At: noon}}})
		f.update(key("gone"), core.Changes{Session: ptr(session("gone", 0))})
		f.update(key("gone"), core.Changes{Delete: true})
		feed := f.changed(0)
		f.want("Changed", feed, core.Feed{Revision: feed.Revision, Whole: true, Sessions: []core.Snapshot{
			{Session: session("s2", 40)},
			{Session: session("s1", 50), WorkingSet: []core.PathUse{{Path: "a.go", Use: core.Read, At: noon}}},
		}})
	},
	"saves and removals since": func(t *testing.T, f *fixture) {
		ended := session("s1", 5)
		ended.EndedAt = after(5)
		start := f.changed(0).Revision
		f.save(session("s1", 0), session("s2", 0), session("s3", 0))
		last := f.news(start, []string{"claude-code/s1", "claude-code/s2", "claude-code/s3"}, nil)
		f.save(ended)
		last = f.news(last, []string{"claude-code/s1"}, nil)
		f.update(key("s2"), core.Changes{Samples: []core.Sample{{At: noon, Kind: core.SampleUsage}}})
		last = f.news(last, []string{"claude-code/s2"}, nil)
		for range 3 { // many saves are one piece of news
			f.save(session("s3", 9))
			f.save(session("s2", 9))
		}
		last = f.news(last, []string{"claude-code/s3", "claude-code/s2"}, nil)
		f.update(key("s2"), core.Changes{Delete: true})
		f.update(key("s1"), core.Changes{Delete: true})
		removed := f.news(last, nil, []string{"claude-code/s2", "claude-code/s1"})
		f.news(start, []string{"claude-code/s3"}, []string{"claude-code/s2", "claude-code/s1"})
		f.save(session("s2", 10))
		f.news(last, []string{"claude-code/s2"}, []string{"claude-code/s1"})
		f.news(removed, []string{"claude-code/s2"}, nil)
	},
	"deleted and saved at once": func(t *testing.T, f *fixture) {
		f.save(session("s1", 0))
		last := f.changed(0).Revision
		f.update(key("s1"), core.Changes{Delete: true, Session: ptr(session("s1", 1))})
		f.news(last, []string{"claude-code/s1"}, nil)
	},
	"what is no change of a session is no news": func(t *testing.T, f *fixture) {
		last := f.changed(0).Revision
		f.update(key("nobody"), core.Changes{Delete: true})
		f.update(core.Key{}, core.Changes{Trim: &core.TrimCount{Operations: 1}, Task: &core.Task{ID: "t"}})
		f.load(core.Query{Key: key("nobody")})
		f.news(last, nil, nil)
	},
	"the alert gate is told": func(t *testing.T, f *fixture) {
		f.save(session("s1", 0))
		gate := core.AlertGate{At: noon, Rate: 0.25}
		f.update(core.Key{}, core.Changes{Alert: &gate})
		last := f.changed(0)
		f.want("from the start", last.Alert, gate)
		f.want("without other news", f.changed(last.Revision), core.Feed{Revision: last.Revision, Alert: gate})
	},
	"the oldest that are forgotten are removed": func(t *testing.T, f *fixture) {
		f.save(session("s1", 1), session("s2", 2), session("s3", 3))
		last := f.changed(0).Revision
		f.update(key("s4"), core.Changes{Session: ptr(session("s4", 4)), MaxSessions: 2})
		feed := f.changed(last)
		f.want("Sessions", names(feed.Sessions), []string{"claude-code/s4"})
		f.want("how many were removed", len(feed.Removed), 2)
	},
	"a watcher that was long away starts over": func(t *testing.T, f *fixture) {
		f.save(session("s1", 0))
		last := f.changed(0).Revision
		for i := range 1500 {
			id := fmt.Sprint("passing ", i)
			f.update(key(id), core.Changes{Session: ptr(session(id, 0))})
			f.update(key(id), core.Changes{Delete: true})
		}
		feed := f.changed(last)
		if !feed.Whole && len(feed.Removed) != 1500 {
			t.Errorf("%d of 1500 removals are told", len(feed.Removed))
		}
		if feed.Whole {
			f.want("all there are", names(feed.Sessions), []string{"claude-code/s1"})
			f.want("removals", feed.Removed, []core.Key(nil))
		}
	},
	"a revision of another store": func(t *testing.T, f *fixture) {
		f.save(session("s1", 0))
		for _, since := range []int64{1, f.changed(0).Revision + 1_000_000} {
			feed := f.changed(since)
			f.want(fmt.Sprint("since ", since), []any{feed.Whole, names(feed.Sessions)}, []any{true, []string{"claude-code/s1"}})
		}
	},
}

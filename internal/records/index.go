package records

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// index holds the records of the hosts whose directories are watched, so that a server does not search 20,000 files for each list. A
// host is added by its first list, and removed when an event may have been missed.
type index struct {
	mu      sync.Mutex
	watched map[session.Host]bool
	events  int64 // counts events: a list that was made during one is not kept
	records map[session.Host][]core.Record
}

// watch sets the hosts whose directories are watched, and drops all lists.
func (x *index) watch(hosts map[session.Host]bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.watched, x.records = hosts, nil
	x.events++
}

// forget drops all lists, since an event may have been missed.
func (x *index) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.records = nil
	x.events++
}

// update stores the current state of a record. A record without a ModTime is gone.
func (x *index) update(r core.Record) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.events++
	listed, ok := x.records[r.Host]
	if !ok {
		return
	}
	// Lists that were returned before do not change.
	listed = slices.DeleteFunc(slices.Clone(listed), func(l core.Record) bool { return l.Key == r.Key })
	if !r.ModTime.IsZero() {
		at, _ := slices.BinarySearchFunc(listed, r, func(l, r core.Record) int { return r.ModTime.Compare(l.ModTime) })
		listed = slices.Insert(listed, at, r)
	}
	x.records[r.Host] = listed
}

// find returns the records of one host that changed since, newest first and each session once. The caller must not change the list.
func (x *index) find(ctx context.Context, by core.Recorder, since time.Time) []core.Record {
	x.mu.Lock()
	listed, ok := x.records[by.Host()]
	watched, events := x.watched[by.Host()], x.events
	x.mu.Unlock()
	switch {
	case ok:
	case !watched:
		found, _ := by.Find(ctx, since)
		return newestOfEach(found)
	default:
		found, err := by.Find(ctx, time.Time{})
		listed = newestOfEach(found)
		x.mu.Lock()
		if err == nil && x.events == events {
			if x.records == nil {
				x.records = map[session.Host][]core.Record{}
			}
			x.records[by.Host()] = listed
		}
		x.mu.Unlock()
	}
	n, _ := slices.BinarySearchFunc(listed, since, func(r core.Record, since time.Time) int {
		if r.ModTime.Before(since) {
			return 1
		}
		return -1
	})
	return listed[:n]
}

// newestOfEach sorts records, newest first, and drops all but the newest of each session.
func newestOfEach(records []core.Record) []core.Record {
	slices.SortStableFunc(records, func(a, b core.Record) int { return b.ModTime.Compare(a.ModTime) })
	seen := make(map[session.Key]bool, len(records))
	return slices.DeleteFunc(records, func(r core.Record) bool {
		again := seen[r.Key]
		seen[r.Key] = true
		return again
	})
}

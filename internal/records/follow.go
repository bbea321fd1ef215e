package records

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Bounds of the records that a server follows. Lists show older sessions, but clients get no notifications about them.
const (
	followAge   = 7 * 24 * time.Hour
	followCount = 200
)

// following is the state of records for clients: the current sessions, and the revision of each.
type following struct {
	mu       sync.Mutex
	revision int64 // counts the changes below
	sessions map[session.Key]followed
	removed  map[session.Key]int64 // the revision at which a record vanished
	// told maps each revision of a Feed that Changed returned to those of the state and of the records.
	told map[int64]revisions
}

type followed struct {
	snapshot session.Snapshot
	revision int64
}

type revisions struct{ state, records int64 }

// maxTold bounds the remembered revisions. A client with an older one gets everything again.
const maxTold = 64

// Watch implements core.Store. It follows the records from the first call until ctx of that call ends.
func (s *Store) Watch(ctx context.Context) <-chan struct{} {
	wake := make(chan struct{}, 1)
	signal := func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	state := s.Store.Watch(ctx)
	go func() {
		for {
			select {
			case <-state:
				signal()
			case <-ctx.Done():
				return
			}
		}
	}()
	go s.follow(ctx, signal)
	return wake
}

// take stores the sessions of records that were just read, and reports whether any of them changed.
func (f *following) take(snaps []session.Snapshot) (changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, snap := range snaps {
		key := snap.Session.Key()
		if before, ok := f.sessions[key]; ok && reflect.DeepEqual(before.snapshot, snap) {
			continue
		}
		f.revision++
		f.sessions[key] = followed{snap, f.revision}
		delete(f.removed, key)
		changed = true
	}
	for len(f.sessions) > followCount {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(f.sessions)), func(a, b session.Key) int {
			return f.sessions[a].snapshot.Session.UpdatedAt.Compare(f.sessions[b].snapshot.Session.UpdatedAt)
		})
		delete(f.sessions, oldest)
	}
	return changed
}

// drop records that the record of a session is gone.
func (f *following) drop(key session.Key) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.sessions[key]; !ok {
		return false
	}
	f.revision++
	delete(f.sessions, key)
	f.removed[key] = f.revision
	return true
}

// Changed implements core.Store.
func (s *Store) Changed(ctx context.Context, since int64) (core.Feed, error) {
	f := &s.following
	f.mu.Lock()
	from, known := f.told[since]
	f.mu.Unlock()
	if !known {
		from = revisions{}
	}
	feed, err := s.Store.Changed(ctx, from.state)
	if err != nil {
		return feed, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if feed.Whole {
		from.records = 0
	}
	var recorded []followed
	for _, session := range f.sessions {
		if session.revision > from.records {
			recorded = append(recorded, session)
		}
	}
	slices.SortFunc(recorded, func(a, b followed) int { return int(a.revision - b.revision) })
	keys := make([]session.Key, len(recorded))
	for i, session := range recorded {
		keys[i] = session.snapshot.Session.Key()
	}
	gone := slices.DeleteFunc(slices.Collect(maps.Keys(f.removed)), func(key session.Key) bool { return feed.Whole || f.removed[key] <= from.records })
	taken, err := s.Store.Taken(ctx, append(keys, gone...))
	if err != nil {
		return core.Feed{}, err
	}
	for i, session := range recorded {
		if !taken[keys[i]] {
			feed.Sessions = append(feed.Sessions, session.snapshot)
		}
	}
	for _, key := range gone {
		if !taken[key] {
			feed.Removed = append(feed.Removed, key)
		}
	}
	feed.Revision = f.tell(revisions{feed.Revision, f.revision})
	return feed, nil
}

// tell returns the revision that a client uses for its next call.
func (f *following) tell(now revisions) int64 {
	var last int64
	for revision, told := range f.told {
		if told == now {
			return revision
		}
		last = max(last, revision)
	}
	for len(f.told) >= maxTold {
		delete(f.told, slices.Min(slices.Collect(maps.Keys(f.told))))
	}
	next := max(last+1, now.state)
	f.told[next] = now
	return next
}

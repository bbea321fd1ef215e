package sqlite

import (
	"context"
	"runtime"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settleTime is the delay between an event of the log and the first check of the file: a commit becomes visible a moment after the
	// log is written, and that gives no event.
	settleTime = 2 * time.Millisecond
	// slowPoll is the poll interval while events work. No event reports that the database was removed, which must be noticed within a
	// second. Waking an idle process costs about 0.3 ms, of which the check takes 10 µs.
	slowPoll = 900 * time.Millisecond
	// fastPoll and restPoll bound the poll interval where events may be missing. The interval is quietShare of the time since the last
	// change. While agents work, a change is seen within 75 ms. An idle server checks every 0.75 s, which costs about 0.05 % of a core;
	// a check every 75 ms would cost ten times that.
	fastPoll, restPoll = 75 * time.Millisecond, 750 * time.Millisecond
	quietShare         = 1. / 20
)

// pollAfter returns the poll interval without events, given the time since the last change.
func pollAfter(quiet time.Duration) time.Duration {
	return min(max(time.Duration(float64(quiet)*quietShare), fastPoll), restPoll)
}

// Watch implements core.Store.
func (s *Store) Watch(ctx context.Context) <-chan struct{} {
	wake := make(chan struct{}, 1)
	seen, _ := s.sighting(ctx) // before Watch returns, so that everything after it is a change
	events, err := fsnotify.NewWatcher()
	if err != nil { // the system has no more watches
		events = nil
	}
	go s.watch(ctx, seen, events, wake)
	return wake
}

// follow requests events for writes to the log, and reports whether they are reliable. Every commit is written to the log. No other file
// may be followed: on macOS and the BSDs that opens the file, and closing it would release SQLite's locks, since POSIX locks belong to
// the process. The log is never locked.
func (s *Store) follow(events *fsnotify.Watcher) bool {
	if events == nil {
		return false
	}
	_ = events.Remove(s.path + "-wal") // another log replaced it
	err := events.Add(s.path + "-wal")
	return err == nil && runtime.GOOS != "windows" // Windows may report writes to an open file only when it is closed
}

// watch sends to wake when the file has changed, until ctx ends. After an event it checks soon, then at growing intervals up to its poll
// interval.
func (s *Store) watch(ctx context.Context, seen sighting, w *fsnotify.Watcher, wake chan<- struct{}) {
	var events <-chan fsnotify.Event
	var failures <-chan error
	if w != nil {
		defer w.Close()
		events, failures = w.Events, w.Errors
	}
	follows := s.follow(w)
	comes := follows // as far as is known, events come
	changed := time.Now()
	poll := func() time.Duration {
		if comes {
			return slowPoll
		}
		return pollAfter(time.Since(changed))
	}
	wait := settleTime // a change may have come before events did
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-failures: // events were lost
		case <-events:
			comes = follows
			if wait == settleTime { // the check will run as soon as possible
				continue
			}
		case <-timer.C:
			now, err := s.sighting(ctx)
			if err == nil && now == seen {
				wait = min(4*wait, poll())
				timer.Reset(wait)
				continue
			}
			if now.file != seen.file {
				follows = s.follow(w)
				comes = follows
			} else if wait == slowPoll {
				comes = false // some file systems accept the request and send no events
			}
			seen = now
			select {
			case wake <- struct{}{}:
			default: // one is waiting
			}
			if err != nil { // Changed will say why
				wait = poll()
				timer.Reset(wait)
				continue
			}
			changed = time.Now()
			// The next commit and its event may have come before this check.
		}
		wait = settleTime
		timer.Reset(wait)
	}
}

// sighting is the state of the database at a check. Between two equal sightings, no process has committed.
type sighting struct {
	file    *file
	version int64 // PRAGMA data_version, which is only comparable on one connection
}

// sighting checks the database. The connection is used for nothing else, since it does not see its own commits.
func (s *Store) sighting(ctx context.Context) (sighting, error) {
	f, err := s.current(ctx)
	if err != nil {
		return sighting{}, err
	}
	defer s.mu.RUnlock()
	var c *conn
	select {
	case c = <-f.watcher:
	case <-ctx.Done():
		return sighting{}, ctx.Err()
	}
	defer c.giveBack()
	ctx = context.WithoutCancel(ctx) // nothing here waits, and a cancellable context costs two goroutines for each check
	seen := sighting{file: f}
	if err = c.open(ctx); err == nil {
		_, err = c.row(ctx, "PRAGMA data_version", nil, &seen.version)
	}
	if err != nil {
		c.close(true)
		return sighting{}, err
	}
	return seen, nil
}

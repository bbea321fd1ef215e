package sqlite

import (
	"context"
	"runtime"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settleTime is how long after an event of the log the file is first looked at: the commit becomes visible a moment after
	// the log is written, and that moment gives no event.
	settleTime = 2 * time.Millisecond
	// slowPoll is how often the file is looked at where events come: no event tells that the database was removed, which is to be
	// noticed within a second. To wake an idle process costs some 0.3 ms in all, of which the look is 10 µs.
	slowPoll = 900 * time.Millisecond
	// fastPoll and restPoll bound how often it is looked at where none may come: the longer nothing has changed, the seldomer,
	// after quietShare of the time that it has been quiet. While agents work a change is seen within 75 ms; an idle server looks
	// every 0.75 s, which costs some 0.05 % of a core, where looking every 75 ms costs ten times that.
	fastPoll, restPoll = 75 * time.Millisecond, 750 * time.Millisecond
	quietShare         = 1. / 20
)

// pollAfter returns when to look at the file next where nothing tells of changes and it has been quiet for some time.
func pollAfter(quiet time.Duration) time.Duration {
	return min(max(time.Duration(float64(quiet)*quietShare), fastPoll), restPoll)
}

// Watch implements core.Store.
func (s *Store) Watch(ctx context.Context) <-chan struct{} {
	wake := make(chan struct{}, 1)
	seen, _ := s.sighting(ctx) // before Watch returns: whatever comes after it is a change
	events, err := fsnotify.NewWatcher()
	if err != nil { // the system has no more to give
		events = nil
	}
	go s.watch(ctx, seen, events, wake)
	return wake
}

// follow makes events come of what is written to the log, and reports whether they can be relied on. Every
// commit is written to the log. No other file must be followed: on macOS and the BSDs that opens it, and closing it again
// would let go of the locks that SQLite holds on it, since POSIX locks belong to the process; the log is never locked.
func (s *Store) follow(events *fsnotify.Watcher) bool {
	if events == nil {
		return false
	}
	_ = events.Remove(s.path + "-wal") // a log that another has replaced
	err := events.Add(s.path + "-wal")
	return err == nil && runtime.GOOS != "windows" // Windows may tell of what is written to an open file only when it is closed
}

// watch sends to wake when the file has changed, until ctx ends. After an event it looks soon, then less and less often,
// until it is back at its poll.
func (s *Store) watch(ctx context.Context, seen sighting, w *fsnotify.Watcher, wake chan<- struct{}) {
	var events <-chan fsnotify.Event
	var failures <-chan error
	if w != nil {
		defer w.Close()
		events, failures = w.Events, w.Errors
	}
	follows := s.follow(w)
	comes := follows // events come, as far as anybody knows
	changed := time.Now()
	poll := func() time.Duration {
		if comes {
			return slowPoll
		}
		return pollAfter(time.Since(changed))
	}
	wait := settleTime // something may have come before the events did
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-failures: // events were lost
		case <-events:
			comes = follows
			if wait == settleTime { // it will be looked at as soon as can be
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
				comes = false // there are file systems that take the request and tell nothing
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
			// The next commit may have begun, and its event come, before this look.
		}
		wait = settleTime
		timer.Reset(wait)
	}
}

// sighting is how the database was last seen. Two that are equal have no commit of any process between them.
type sighting struct {
	file    *file
	version int64 // PRAGMA data_version, which means something on one connection only
}

// sighting looks at the database, on a connection that is used for nothing else: its own commits are none that it sees.
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
	ctx = context.WithoutCancel(ctx) // nothing here waits, and one that may end costs two goroutines a look
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

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
	// slowPoll is how often the file is looked at where events come. To wake an idle process costs some 0.3 ms in all, of
	// which the look is 10 µs.
	slowPoll = 2 * time.Second
	// fastPoll is how often where none may come.
	fastPoll = 75 * time.Millisecond
)

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

// follow makes events come of what is written to the log, and returns how often to look at the file all the same. Every
// commit is written to the log. No other file must be followed: on macOS and the BSDs that opens it, and closing it again
// would let go of the locks that SQLite holds on it, since POSIX locks belong to the process; the log is never locked.
func (s *Store) follow(events *fsnotify.Watcher) time.Duration {
	if events == nil {
		return fastPoll
	}
	_ = events.Remove(s.path + "-wal") // a log that another has replaced
	if err := events.Add(s.path + "-wal"); err != nil || runtime.GOOS == "windows" {
		return fastPoll // Windows may tell of what is written to an open file only when it is closed
	}
	return slowPoll
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
	poll := s.follow(w)
	wait := settleTime // something may have come before the events did
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-failures: // events were lost
		case <-events:
			if wait == settleTime { // it will be looked at as soon as can be
				continue
			}
		case <-timer.C:
			now, err := s.sighting(ctx)
			if err == nil && now == seen {
				wait = min(4*wait, poll)
				timer.Reset(wait)
				continue
			}
			if now.file != seen.file {
				poll = s.follow(w)
			}
			seen = now
			select {
			case wake <- struct{}{}:
			default: // one is waiting
			}
			if err != nil { // Changed will say why
				wait = poll
				timer.Reset(wait)
				continue
			}
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

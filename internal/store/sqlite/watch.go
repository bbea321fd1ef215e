package sqlite

import (
	"context"
	"path/filepath"
	"runtime"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settleTime is how long after an event of the log the file is first looked at: the commit becomes visible a moment after
	// the log is written, and that moment gives no event.
	settleTime = 2 * time.Millisecond
	// slowPoll is how often the file is looked at where events come: a look takes some 20 µs.
	slowPoll = time.Second
	// fastPoll is how often where none come.
	fastPoll = 50 * time.Millisecond
)

// Watch implements core.Store.
func (s *Store) Watch(ctx context.Context) <-chan struct{} {
	wake := make(chan struct{}, 1)
	seen, _ := s.sighting(ctx) // before Watch returns: whatever comes after it is a change
	events, poll := s.events()
	go s.watch(ctx, seen, events, poll, wake)
	return wake
}

// events returns a watcher of the directory and how often to look at the file all the same. There is none where the system
// has no more to give, and on none but Linux: on the BSDs and macOS the watcher opens the files themselves, and closing
// them would let go of the locks that SQLite holds on them (POSIX locks belong to the process); Windows tells of what is
// written to an open file when it is closed.
func (s *Store) events() (*fsnotify.Watcher, time.Duration) {
	if runtime.GOOS != "linux" {
		return nil, fastPoll
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fastPoll
	}
	if err := w.Add(filepath.Dir(s.path)); err != nil {
		w.Close()
		return nil, fastPoll
	}
	return w, slowPoll
}

// watch sends to wake when the file has changed, until ctx ends. After an event it looks soon, then less and less often,
// until it is back at its poll.
func (s *Store) watch(ctx context.Context, seen sighting, w *fsnotify.Watcher, poll time.Duration, wake chan<- struct{}) {
	var events <-chan fsnotify.Event
	var failures <-chan error
	if w != nil {
		defer w.Close()
		events, failures = w.Events, w.Errors
	}
	wait := poll
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-failures: // events were lost
		case event := <-events:
			if event.Name != s.path && event.Name != s.path+"-wal" {
				continue
			}
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

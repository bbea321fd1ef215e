package records

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ctxls/ctxls/internal/core/session"
)

const (
	// gatherTime is the time for which events of the file system are collected before the records are read: a host writes a response in
	// several lines.
	gatherTime = 40 * time.Millisecond
	// pollTime is the interval of checks of database files, on every system, since a commit may give no event. A check costs a few
	// microseconds.
	pollTime = 500 * time.Millisecond
	// maxSweep bounds the interval of searches for all records if the system gives no events. The interval is sweepShare of the time
	// without changes, since a search through 20,000 files takes 30 ms.
	maxSweep   = 10 * time.Second
	sweepShare = 1. / 30
	// maxDirs bounds the number of watched directories. Linux allows a user 8,192 or more.
	maxDirs = 4096
)

// Polled is a Recorder whose records are not files of their own. Changes are noticed by checking the files that contain them.
type Polled interface {
	PolledFiles() []string
}

// watcher keeps the state of records for clients up to date.
type watcher struct {
	store   *Store
	events  *fsnotify.Watcher // nil if the system gives no events
	dirs    map[string]bool   // that are watched
	missed  bool              // a directory is not watched
	polled  map[string]fileState
	changed time.Time // when something changed last
	swept   time.Time
}

type fileState struct {
	modTime time.Time
	size    int64
}

// follow keeps the state of records for clients up to date until ctx ends. It calls signal after a change.
func (s *Store) follow(ctx context.Context, signal func()) {
	w := &watcher{store: s, dirs: map[string]bool{}, polled: map[string]fileState{}, changed: time.Now()}
	var events <-chan fsnotify.Event
	var failures <-chan error
	// On macOS and the BSDs watching a directory opens every file in it.
	if fs, err := fsnotify.NewWatcher(); err == nil && (runtime.GOOS == "linux" || runtime.GOOS == "windows") {
		defer fs.Close()
		w.events, events, failures = fs, fs.Events, fs.Errors
	}
	paths := map[string]bool{} // that changed and will be read
	tick := time.NewTicker(pollTime)
	gather := time.NewTimer(0)
	defer tick.Stop()
	defer gather.Stop()
	since := s.o.Now().Add(-followAge)
	w.watchRoots()
	if w.sweep(ctx, since) {
		signal()
	}
	for {
		changed := false
		select {
		case <-ctx.Done():
			return
		case <-failures: // events were lost
			s.index.forget()
			changed = w.sweep(ctx, s.o.Now().Add(-maxSweep))
		case ev := <-events:
			if ev.Has(fsnotify.Create) && w.watchTree(ev.Name) {
				s.index.forget() // earlier writes to it gave no event
			}
			if _, watched := w.dirs[ev.Name]; watched && ev.Has(fsnotify.Rename|fsnotify.Remove) {
				w.moved(ev.Name)
			}
			s.noticed(ev.Name)
			if len(paths) == 0 {
				gather.Reset(gatherTime)
			}
			paths[ev.Name] = true
		case <-gather.C:
			changed = s.reread(ctx, paths)
			clear(paths)
		case <-tick.C:
			changed = w.poll(ctx)
		}
		if changed {
			w.changed = time.Now()
			signal()
		}
	}
}

// sweep reads all records that changed since.
func (w *watcher) sweep(ctx context.Context, since time.Time) bool {
	w.swept = time.Now()
	records := w.store.find(ctx, "", since)
	return w.store.following.take(sessionsOf(w.store.readAll(ctx, records[:min(len(records), followCount)])))
}

// poll checks files for which the system gives no events.
func (w *watcher) poll(ctx context.Context) (changed bool) {
	const behind = 2 * time.Second // the clock of a file system may be slow
	if w.watchRoots() {
		changed = w.sweep(ctx, w.swept.Add(-behind))
	}
	if w.events == nil {
		if quiet := time.Since(w.changed); time.Since(w.swept) >= min(time.Duration(float64(quiet)*sweepShare), maxSweep) {
			return w.sweep(ctx, w.swept.Add(-behind)) || changed
		}
		return changed
	}
	for _, by := range w.store.o.Recorders {
		p, ok := by.(Polled)
		if !ok || !w.stir(p.PolledFiles()) {
			continue
		}
		records := w.store.find(ctx, by.Host(), w.changed.Add(-behind))
		changed = w.store.following.take(sessionsOf(w.store.readAll(ctx, records[:min(len(records), followCount)]))) || changed
	}
	return changed
}

// stir reports whether one of the files has changed since the last call.
func (w *watcher) stir(paths []string) (changed bool) {
	for _, path := range paths {
		var now fileState
		if info, err := os.Lstat(path); err == nil {
			now = fileState{info.ModTime(), info.Size()}
		}
		changed = changed || w.polled[path] != now
		w.polled[path] = now
	}
	return changed
}

// reread reads the records to which paths belong.
func (s *Store) reread(ctx context.Context, paths map[string]bool) (changed bool) {
	var records []found
	seen := map[session.Key]bool{}
	for path := range paths {
		for _, by := range s.o.Recorders {
			r, ok := by.At(path)
			if !ok || seen[r.Key] {
				continue
			}
			seen[r.Key] = true
			if r.ModTime.IsZero() {
				changed = s.following.drop(r.Key) || changed
			} else {
				records = append(records, found{r, by})
			}
		}
	}
	return s.following.take(sessionsOf(s.readAll(ctx, records))) || changed
}

// moved handles a watched directory that was renamed or removed. Writes to it gave no event. Linux reports the new name twice, and the
// second event ends the watch under the new name, so all directories are watched again.
func (w *watcher) moved(dir string) {
	w.dirs[dir] = false
	for _, by := range w.store.o.Recorders {
		if _, ok := by.(Polled); ok {
			continue
		}
		for _, root := range by.Dirs() {
			w.watchTree(root)
		}
	}
	w.store.index.forget()
}

// noticed updates the list of records after an event about a file.
func (s *Store) noticed(path string) {
	for _, by := range s.o.Recorders {
		if r, ok := by.At(path); ok {
			s.index.update(r)
		}
	}
}

// watchRoots watches the existing directories of records that are not watched yet, and reports whether there were any.
func (w *watcher) watchRoots() (added bool) {
	if w.events == nil {
		return false
	}
	for _, by := range w.store.o.Recorders {
		if _, ok := by.(Polled); ok {
			continue
		}
		for _, dir := range by.Dirs() {
			if !w.dirs[dir] {
				w.watchTree(dir)
				added = added || w.dirs[dir]
			}
		}
	}
	if added {
		w.store.index.watch(w.watchedHosts())
	}
	return added
}

// watchedHosts returns the hosts for whose records every change gives an event.
func (w *watcher) watchedHosts() map[session.Host]bool {
	hosts := map[session.Host]bool{}
	if w.missed {
		return hosts
	}
	for _, by := range w.store.o.Recorders {
		if _, ok := by.(Polled); !ok {
			hosts[by.Host()] = true
		}
	}
	return hosts
}

// watchTree watches a directory and its subdirectories, and reports whether root is a directory. It follows no link.
func (w *watcher) watchTree(root string) bool {
	if info, err := os.Lstat(root); err != nil || !info.IsDir() {
		return false
	}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return nil
		case len(w.dirs) >= maxDirs:
			w.missed = true
			return filepath.SkipAll
		}
		w.dirs[path] = w.events.Add(path) == nil
		w.missed = w.missed || !w.dirs[path]
		return nil
	})
	if w.missed {
		w.store.index.watch(nil)
	}
	return true
}

// sessionsOf drops the records that could not be read.
func sessionsOf(snaps []session.Snapshot) []session.Snapshot {
	return slices.DeleteFunc(snaps, func(snap session.Snapshot) bool { return snap.Session.SessionID == "" })
}

// Package sqlite keeps the state in one SQLite file that any number of processes share.
//
// There is one writer at a time among all of them, and every update is one transaction that takes the write lock before it
// reads. Readers never wait. A damaged file is moved aside and a fresh one started, whichever process finds it.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Options say how to open a store.
type Options struct {
	Path string // the database file; made, with its directory, where it is missing
	// BusyTimeout is how long to wait for other processes before giving up with CodeUnavailable; 0 is 5 s.
	BusyTimeout time.Duration
	// Fleeting says that the process ends right after Close, which then closes nothing unless the log is to be folded: the
	// system closes the files, and what was acknowledged is in them.
	Fleeting bool
	// Usual says that Path is the place where a user's state always is. A file there that is no database must be a damaged state, and
	// is moved aside; anywhere else such a file is somebody's, and left alone.
	Usual bool
	// MustExist says that a missing file is an error with CodeNotFound, and that nothing is made.
	MustExist bool
	// LocalDir takes the file in when Path lies on a network file system; "" is a directory of the user's own in the
	// system's place for temporary files.
	LocalDir string
	// Report is told, in a sentence for people, of what was done about a damaged file or a remote place. It may be nil, and
	// is called from the goroutine that met it.
	Report func(string)

	network func(dir string) string // names the kind of network file system that holds dir; tests set their own
}

// Store implements core.Store.
type Store struct {
	options Options
	path    string // where the file is, which may be another place than Options.Path

	mu     sync.RWMutex // held for reading while file is in use, for writing while it is replaced
	file   *file        // nil when it could not be opened again
	closed bool
}

var _ core.Store = (*Store)(nil)

// Open opens the store. Its errors carry CodeUnavailable when the place cannot be used or a newer ctxls has written the
// file, and CodeInvalid when the file is another program's database.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.BusyTimeout <= 0 {
		o.BusyTimeout = 5 * time.Second
	}
	if o.Report == nil {
		o.Report = func(string) {}
	}
	if o.network == nil {
		o.network = network
	}
	s := &Store{options: o}
	path, err := filepath.Abs(o.Path)
	if err == nil {
		s.path, err = local(followLinks(path), o)
	}
	if _, missing := os.Stat(s.path); err == nil && o.MustExist && errors.Is(missing, fs.ErrNotExist) {
		err = coded.Errorf(coded.NotFound, "no state at %s", o.Path)
	}
	if err == nil && !o.Usual && otherFile(s.path) { // before a lock is made beside it
		err = errNoState(o.Path)
	}
	if err == nil {
		err = s.reopen(ctx)
	}
	if err != nil {
		return nil, explain(ctx, err, o.BusyTimeout)
	}
	return s, nil
}

// followLinks returns what path leads to when it is itself a symbolic link. SQLite puts the log beside that file, and what
// is moved aside is the file and not the link.
func followLinks(path string) string {
	for range 10 { // more is a loop, and opening will say so
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}

// Path returns where the database file is: a change by any process touches it or the file of that name with "-wal".
func (s *Store) Path() string { return s.path }

// Close closes the store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.options.Fleeting && s.file != nil && shortLog(s.file.path) {
		return nil
	}
	return s.letGo(context.Background())
}

// letGo closes the file. The caller holds mu.
func (s *Store) letGo(ctx context.Context) error {
	if s.file == nil {
		return nil
	}
	err := s.file.close(ctx)
	s.file = nil
	return explain(ctx, err, s.options.BusyTimeout)
}

// reopen opens the file that is at path now, once it has moved a damaged one aside. The caller holds mu.
func (s *Store) reopen(ctx context.Context) error {
	s.letGo(ctx)
	for attempt := 0; ; attempt++ {
		f, err := openFile(ctx, s.path, s.options.BusyTimeout, s.options.Report)
		if err == nil {
			s.file = f
			return nil
		}
		if !damaged(err) || attempt == 2 {
			return err
		}
		if !s.options.Usual && !isState(s.path) && f.unmoved() {
			return errNoState(s.options.Path)
		}
		if err := s.moveAside(ctx, f); err != nil {
			return err
		}
	}
}

// moveAside puts a damaged file, which is closed, out of the way.
func (s *Store) moveAside(ctx context.Context, f *file) error {
	aside, err := f.moveAside(ctx)
	if err == nil && aside != "" {
		s.options.Report(fmt.Sprintf("the state was damaged: it is now %s, and a fresh one was started", aside))
	}
	return err
}

// current returns the open file with mu held for reading, once it has made sure that it is the one at path.
func (s *Store) current(ctx context.Context) (*file, error) {
	for {
		s.mu.RLock()
		if s.closed {
			s.mu.RUnlock()
			return nil, coded.Errorf(coded.Unavailable, "the state is closed")
		}
		if s.file != nil && s.file.current() {
			return s.file, nil
		}
		s.mu.RUnlock()

		s.mu.Lock()
		var err error
		if !s.closed && (s.file == nil || !s.file.current()) {
			err = s.reopen(ctx)
		}
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
}

// run calls f with a connection for writing or one for reading. Where f finds the file damaged, that is moved aside and f
// called once more, on a fresh one.
func (s *Store) run(ctx context.Context, write bool, f func(context.Context, *conn) error) error {
	used, err := s.once(ctx, write, f)
	if damaged(err) && used != nil {
		if err = s.replace(ctx, used); err == nil {
			_, err = s.once(ctx, write, f)
		}
	} else if errors.Is(err, errMoved) { // while a second connection was opened
		_, err = s.once(ctx, write, f)
	}
	return explain(ctx, err, s.options.BusyTimeout)
}

// replace moves the damaged file aside, unless another goroutine has done so. The next use starts a fresh one.
func (s *Store) replace(ctx context.Context, f *file) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != f {
		return nil
	}
	s.letGo(ctx)
	return s.moveAside(ctx, f)
}

// once calls f with a connection of the file, which it returns, in one transaction.
func (s *Store) once(ctx context.Context, write bool, f func(context.Context, *conn) error) (*file, error) {
	file, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	c, err := file.take(ctx, write)
	if err != nil {
		return nil, err
	}
	defer c.giveBack()
	err = c.transaction(ctx, write, func(ctx context.Context) error { return f(ctx, c) })
	if err == nil && write && !file.current() { // what was written is in files that nobody reads any more
		err = coded.Errorf(coded.Unavailable, "the state was removed or replaced while it was written; the update was not kept")
	}
	return file, err
}

// Update implements core.Store.
func (s *Store) Update(ctx context.Context, q core.Query, decide func(session.State) session.Changes) error {
	decided, deleted := false, false
	err := s.run(ctx, true, func(ctx context.Context, c *conn) error {
		if decided { // and the damage was found while saving
			return coded.Errorf(coded.Unavailable, "the state was damaged and has been started anew; the update was not kept")
		}
		// A newer ctxls may have been installed, and run, since the file was opened.
		version := 0
		if _, err := c.row(ctx, "PRAGMA user_version", nil, &version); err != nil {
			return err
		}
		if version > format {
			return errNewer(version)
		}
		state, row, err := c.load(ctx, q)
		if err != nil {
			return err
		}
		decided = true
		changes := decide(state)
		deleted = changes.Delete && row != nil
		return c.save(ctx, q, row, changes)
	})
	if err == nil && deleted {
		s.wipeLog(ctx)
	}
	return err
}

// Load implements core.Store.
func (s *Store) Load(ctx context.Context, q core.Query) (state session.State, err error) {
	err = s.run(ctx, false, func(ctx context.Context, c *conn) error {
		state, _, err = c.load(ctx, q)
		return err
	})
	return state, err
}

// wipeLog folds the log into the file and empties it, so that what was deleted is not left to read there. SQLite waits for
// readers, but not for somebody else who folds the log, so it is tried again. Where somebody reads the old state for longer than
// the busy timeout it cannot be done; the next to fold the log does it then.
func (s *Store) wipeLog(ctx context.Context) {
	deadline := time.Now().Add(s.options.BusyTimeout)
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		var inTheWay, pages, folded int
		err := s.run(ctx, false, func(ctx context.Context, c *conn) error {
			_, err := c.row(ctx, "PRAGMA wal_checkpoint(TRUNCATE)", nil, &inTheWay, &pages, &folded)
			return err
		})
		if err == nil && inTheWay == 0 || time.Now().After(deadline) || pause(ctx, wait) != nil {
			return
		}
	}
}

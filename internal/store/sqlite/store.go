// Package sqlite keeps the state in one SQLite file that several processes share.
//
// Only one process writes at a time. Every update is one transaction that takes the write lock before it reads. Readers never wait. A
// process that finds the file damaged moves it aside and starts a new one.
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
	Path string // the database file; it and its directory are made if missing
	// BusyTimeout is the time to wait for other processes before an error with coded.Unavailable; 0 is 5 s.
	BusyTimeout time.Duration
	// Fleeting says that the process ends right after Close. Close then closes nothing unless the log needs a checkpoint: the system
	// closes the files, and they contain all acknowledged data.
	Fleeting bool
	// Usual says that Path is the default place of a user's state. A file there that is no database must be a damaged state, and is
	// moved aside. Elsewhere, such a file belongs to another program and is left alone.
	Usual bool
	// MustExist says that a missing file is an error with coded.NotFound, and that no file is made.
	MustExist bool
	// LocalDir is the directory for the file if Path is on a network file system; "" is a directory of the user below the system's
	// directory for temporary files.
	LocalDir string
	// Report gets a sentence for users about a damaged file or a network file system that was handled. It may be nil. It is called from
	// the goroutine that found it.
	Report func(string)

	network func(dir string) string // returns the kind of network file system of dir; tests replace it
}

// Store implements core.Store.
type Store struct {
	options Options
	path    string // where the file is; may differ from Options.Path
	// temporary is the directory of a copy, see OpenCopy; "" is none.
	temporary string

	mu     sync.RWMutex // held for reading while file is in use, for writing while it is replaced
	file   *file        // nil if it could not be opened again
	closed bool
}

var _ core.Store = (*Store)(nil)

// Open opens the store. Its errors have coded.Unavailable if the place cannot be used or a newer ctxls wrote the file, and coded.Invalid
// if the file is another program's database.
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
	if found, _ := look(s.path); err == nil && found != nil && !found.regular { // before a lock is made beside it, and before a pipe is opened, which waits
		err = errNotRegular(s.path)
	}
	if err == nil && !o.Usual && otherFile(s.path) {
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

// followLinks returns the target of path if it is a symbolic link. SQLite puts the log beside that file, and the file is moved aside,
// not the link.
func followLinks(path string) string {
	for range 10 { // more is a loop, which opening reports
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

// Path returns the path of the database file. A change by any process modifies it, or the file with "-wal" after its name.
func (s *Store) Path() string { return s.path }

// Close closes the store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.temporary != "" {
		defer os.RemoveAll(s.temporary)
	}
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

// reopen opens the file at path, after moving a damaged one aside. The caller holds mu.
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

// moveAside moves a damaged and closed file aside.
func (s *Store) moveAside(ctx context.Context, f *file) error {
	aside, err := f.moveAside(ctx)
	if err == nil && aside != "" {
		s.options.Report(fmt.Sprintf("the state was damaged: it is now %s, and a fresh one was started", aside))
	}
	return err
}

// current returns the open file with mu held for reading, after it has checked that the file is the one at path.
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

// run calls f with a connection for writing or for reading. If f finds the file damaged, run moves it aside and calls f once more with a
// new file.
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

// replace moves the damaged file aside, unless another goroutine did. The next use starts a new file.
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
	if err == nil && write && !file.current() { // the data was written to files that nothing reads any more
		err = coded.Errorf(coded.Unavailable, "the state was removed or replaced while it was written; the update was not kept")
	}
	return file, err
}

// Update implements core.Store.
func (s *Store) Update(ctx context.Context, q core.Query, decide func(session.State) session.Changes) error {
	decided, deleted := false, false
	err := s.run(ctx, true, func(ctx context.Context, c *conn) error {
		if decided { // and saving found the damage
			return coded.Errorf(coded.Unavailable, "the state was damaged and has been replaced by an empty one; the update was not kept")
		}
		// A newer ctxls may have been installed and run since the file was opened.
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

// wipeLog checkpoints the log and empties it, so that deleted data cannot be read there. SQLite waits for readers, but not for another
// checkpoint, so wipeLog retries. It fails if a reader uses the old state for longer than the busy timeout; the next checkpoint then
// does it.
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

package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	modernc "modernc.org/sqlite"
)

// file is an open database file with its connections.
type file struct {
	path    string
	timeout time.Duration // how long to wait for a lock
	report  func(string)
	db      *sql.DB

	// writer holds the connection for writing while it is not in use. There is one, since SQLite lets one write at a time
	// anyway and goroutines queue more cheaply here than for a lock of the file. reader holds one more, which is opened when a
	// read finds the first in use: a process that does one thing at a time, like a hook, never pays for it.
	writer, reader chan *conn
	watcher        chan *conn // the one that looks for changes, opened by the first who watches

	mu       sync.Mutex
	found    *sight // the database when it was first opened, or tried to be; nil before
	identity trio   // all three files once a connection was open
}

// errMoved says that the file under the path is no longer the one that was opened.
var errMoved = errors.New("the state was replaced")

// openFile opens the database at path, making it where it is missing, and brings it to the present format.
func openFile(ctx context.Context, path string, timeout time.Duration, report func(string)) (*file, error) {
	f := &file{path: path, timeout: timeout, report: report, writer: make(chan *conn, 1), reader: make(chan *conn, 1), watcher: make(chan *conn, 1)}
	f.db = sql.OpenDB(f)
	writer := &conn{db: f.db, home: f.writer, timeout: timeout}
	err := writer.open(ctx)
	f.writer <- writer
	f.reader <- &conn{db: f.db, home: f.reader, timeout: timeout}
	f.watcher <- &conn{db: f.db, home: f.watcher, timeout: timeout}
	if err != nil {
		f.close(ctx)
	}
	return f, err
}

// take returns a connection, for writing or for reading, which no other goroutine uses until it is given back.
func (f *file) take(ctx context.Context, write bool) (*conn, error) {
	reader := f.reader
	if write {
		reader = nil
	}
	select {
	case c := <-f.writer: // it is the one that is open: a read has it too while it is free
		return c, nil
	default:
	}
	select {
	case c := <-f.writer:
		return c, nil
	case c := <-reader:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(f.timeout):
		return nil, errLocked
	}
}

// Driver implements driver.Connector.
func (f *file) Driver() driver.Driver { return &modernc.Driver{} }

// Connect implements driver.Connector: it opens one connection. All that makes the file or settles how it is used happens
// here, under the lock that keeps it from being moved aside meanwhile.
func (f *file) Connect(ctx context.Context) (driver.Conn, error) {
	held, err := lock(ctx, f.path, false, f.timeout)
	if err == nil && abandoned(held, f.path) {
		held.Close()
		if held, err = lock(ctx, f.path, true, f.timeout); err == nil {
			err = f.moveAbandoned(ctx, held)
		}
	}
	if held != nil {
		defer held.Close()
	}
	if err != nil {
		return nil, err
	}
	var found *sight
	err = patiently(ctx, f.timeout, func() (err error) { found, err = create(f.path); return err })
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found == nil {
		f.found = found
	} else if f.found.id != found.id {
		return nil, errMoved
	}
	if found.size > 0 && found.size < headerBytes { // SQLite would take some of these for empty databases
		return nil, errDamaged
	}

	share()
	connector, err := modernc.NewConnector(dsn(f.path, f.timeout))
	if err != nil {
		return nil, err
	}
	c, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := f.prepare(ctx, c); err != nil {
		keepLog(c) // a file that is refused is left alone, and so is what belongs to it
		c.Close()
		return nil, err
	}
	if f.identity.database == nil {
		f.identity = lookAt(f.path)
		remember(held, f.identity)
	}
	return c, nil
}

// dsn names the database at path to the driver, with the settings of every connection.
func dsn(path string, timeout time.Duration) string {
	settings := url.Values{
		// Without it the first process that finds the lock taken fails at once. The driver sets it before all else.
		"_busy_timeout": {strconv.FormatInt(timeout.Milliseconds(), 10)},
		// A transaction that reads and then writes must hold the write lock from its start: one that asks for it later fails
		// when another has written in between, whatever the busy timeout.
		"_txlock": {"immediate"},
		// A commit outlives the process, and a power cut may cost the last ones but never the file. FULL would sync on every
		// commit, which is fifteen times slower.
		"_synchronous": {"NORMAL"},
		// What belongs to a session goes with it.
		"_foreign_keys": {"1"},
		// Look at the layout of each page as it is loaded, so that a damaged one is found there and not acted on.
		// And write zeros over what is deleted: a session that was forgotten must not be left to read in the file.
		"_pragma": {"cell_size_check(1)", "secure_delete(1)"},
	}
	return fileURI(path, filepath.Separator == '\\') + "?" + settings.Encode()
}

// fileURI spells path as SQLite's URI file name. Left as it is, a "?" or "#" in it would end the name: the database would
// come to be in another place.
func fileURI(path string, windows bool) string {
	if windows {
		path = strings.ReplaceAll(path, `\`, "/")
		if !strings.HasPrefix(path, "/") { // C:/…
			path = "/" + path
		}
	}
	return "file://" + (&url.URL{Path: path}).EscapedPath()
}

// prepare checks what kind of file c has opened and brings it to the present format and to write-ahead logging.
func (f *file) prepare(ctx context.Context, c driver.Conn) error {
	version, err := identify(ctx, c)
	if err != nil {
		return err
	}
	if err := ownerAlone(f.path); err != nil { // not before: a file that is refused keeps its mode
		return err
	}
	// With a write-ahead log readers and the writer do not wait for each other. It is a property of the file, so the first
	// to open it sets it. That step does not wait for locks as others do: of several who open a new file at once some would
	// fail, and so it is made only where it is needed, and again while another program is in the way.
	deadline := time.Now().Add(f.timeout)
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		mode, err := one(ctx, c, "PRAGMA journal_mode")
		if err == nil && mode != "wal" {
			_, err = one(ctx, c, "PRAGMA journal_mode = wal")
		}
		if err == nil {
			break
		}
		if !busy(err) || time.Now().After(deadline) {
			return err
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
	if version < format {
		return migrate(ctx, c)
	}
	return nil
}

// ownerAlone takes from others what rights they have on the file at path, as a backup may have restored it.
func ownerAlone(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		err = os.Chmod(path, 0o600)
	}
	return err
}

// creating keeps the stores of this process from opening a file that create is about to close: where a lock belongs to the
// process, as POSIX has it, closing any descriptor of a file lets go of all the locks that the process has on it.
var creating sync.Mutex

// create makes the file at path, for its owner alone, where it is missing, and returns what it is. SQLite gives the log and the
// index beside it the same mode.
func create(path string) (*sight, error) {
	found, err := look(path)
	if errors.Is(err, fs.ErrNotExist) {
		creating.Lock()
		defer creating.Unlock()
		var f *os.File
		f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err == nil {
			f.Close()
		}
		if err == nil || errors.Is(err, fs.ErrExist) { // another process may have been faster
			found, err = look(path)
		}
	}
	if err != nil {
		return nil, err
	}
	if !found.regular {
		return nil, errNotRegular(path)
	}
	return found, nil
}

// close closes every connection.
func (f *file) close(ctx context.Context) error {
	if held, err := lock(context.WithoutCancel(ctx), f.path, false, f.timeout); err == nil {
		defer held.Close()
	}
	keep := f.identity.database != nil && !f.current() || shortLog(f.path)
	(<-f.writer).close(keep)
	(<-f.reader).close(keep)
	(<-f.watcher).close(keep)
	return f.db.Close()
}

// moveAside renames the damaged file, with its log and index, so that a fresh one can take its place and nothing is lost
// that a user may still want to recover. It returns the new name, or "" when another process has done it already. The
// caller has closed the file.
func (f *file) moveAside(ctx context.Context) (string, error) {
	held, err := lock(ctx, f.path, true, f.timeout)
	if err != nil {
		return "", err
	}
	defer held.Close()
	if !f.unmoved() {
		return "", nil
	}
	aside := asideName(f.path)
	// The database goes first: a process that finds a log without its database moves the log aside, too.
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := f.rename(ctx, suffix, aside+suffix); err != nil {
			return "", err
		}
	}
	return aside, nil
}

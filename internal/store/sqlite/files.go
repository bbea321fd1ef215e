package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A database is three files: the database itself, its write-ahead log, and the index of that log, which processes map into memory.
// SQLite finds the other two by name. Users remove, empty and replace single files while processes have them open. Then some processes
// use the removed files and others use the new ones. So every use of the state compares the files with those that were opened, and the
// first process that opens the state moves aside files of another database.

// trio is the identity of the three files at one time; nil is a missing file.
type trio struct{ database, log, index os.FileInfo }

// lookAt returns the identity of the current files of the database at path. On Windows, open files cannot be removed, and reading the
// log's identity would open the log, so only the database is checked.
func lookAt(path string) trio {
	stat := func(path string) os.FileInfo {
		info, err := os.Stat(path)
		if err != nil {
			return nil
		}
		return info
	}
	if filepath.Separator != '/' {
		return trio{database: stat(path)}
	}
	return trio{stat(path), stat(path + "-wal"), stat(path + "-shm")}
}

// current reports whether the files are still the opened ones. Data written to other files is lost.
func (f *file) current() bool {
	now := lookAt(f.path)
	return f.identity.database != nil && now.database != nil && now.database.Size() > 0 && same(f.identity.database, now.database) &&
		same(f.identity.log, now.log) && same(f.identity.index, now.index)
}

// unmoved reports whether the database file is the opened one, or the one that could not be opened.
func (f *file) unmoved() bool {
	now, err := os.Stat(f.path)
	return err == nil && f.found != nil && os.SameFile(f.found, now)
}

func same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b)
}

// abandoned reports whether path has a log or an index of no database, or of another one than the database at path. held is the lock
// file.
func abandoned(held *os.File, path string) bool {
	now := lookAt(path)
	switch {
	case now.log == nil && now.index == nil:
		return false
	case now.database == nil || now.database.Size() == 0:
		return true
	case now.log == nil: // SQLite removes the index before the log
		return true
	}
	// The log is the one that was last used here, but the database is another one. A copy of all files has a new log, too.
	database, log := remembered(held)
	return database != "" && log == serial(now.log) && database != serial(now.database)
}

// hasAbandoned is abandoned without changing anything.
func hasAbandoned(path string) bool {
	held, err := os.Open(path + ".lock")
	if err != nil {
		return false
	}
	defer held.Close()
	return abandoned(held, path)
}

// moveAbandoned moves aside what abandoned found. The caller holds the exclusive lock.
func (f *file) moveAbandoned(held *os.File) error {
	if !abandoned(held, f.path) {
		return nil // another process was faster
	}
	now := lookAt(f.path)
	what := "replaced"
	switch {
	case now.database == nil:
		what = "removed"
	case now.database.Size() == 0:
		what = "emptied"
		if err := os.Remove(f.path); err != nil { // a process that has it open would block all others
			return err
		}
	}
	if err := os.Remove(f.path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) { // it can be made again from the log
		return err
	}
	if now.log == nil {
		f.report("the state's log was removed: what had not been folded into the state is lost")
		return nil
	}
	aside := asideName(f.path) + "-wal"
	err := os.Rename(f.path+"-wal", aside)
	if err == nil {
		f.report(fmt.Sprintf("the state was %s while its log was still there: the log is now %s", what, aside))
	}
	return err
}

// remember writes to the lock file which database uses which log.
func remember(held *os.File, now trio) {
	if serial(now.database) == "" || now.log == nil {
		return
	}
	if database, log := remembered(held); database == serial(now.database) && log == serial(now.log) {
		return
	}
	_, _ = held.WriteAt(fmt.Appendf(nil, "%s %s\n", serial(now.database), serial(now.log)), 0) // without it, fewer cases are noticed
}

// remembered returns what remember wrote, "" if there is nothing.
func remembered(held *os.File) (database, log string) {
	var text [128]byte
	n, err := held.ReadAt(text[:], 0)
	if err == nil || errors.Is(err, io.EOF) {
		_, _ = fmt.Sscan(string(text[:n]), &database, &log)
	}
	return database, log
}

// asideName returns the name under which the file at path is kept for inspection.
func asideName(path string) string {
	return path + ".corrupt-" + time.Now().UTC().Format("20060102T150405.000Z")
}

// rename is os.Rename; a missing file is no error.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// A database is three files: the database itself, its write-ahead log, and the index of that log, which processes map into memory.
// SQLite finds the other two by name. Users remove, empty and replace single files while processes have them open. Then some processes
// use the removed files and others use the new ones. So every use of the state compares the files with those that were opened, and the
// first process that opens the state moves aside files of another database.

// sight is what a file was at one moment.
type sight struct {
	id      fileID
	size    int64
	regular bool
}

// fileID identifies a file among all that exist at one time, by whatever name. A file that was removed may have had the same.
type fileID struct{ volume, index uint64 }

func (id fileID) String() string { return fmt.Sprintf("%d:%d", id.volume, id.index) }

// trio is what the three files were at one moment; nil stands for a missing one.
type trio struct{ database, log, index *sight }

// lookAt returns what the files of the database at path are now.
func lookAt(path string) trio {
	see := func(path string) *sight {
		found, err := look(path)
		if err != nil {
			return nil
		}
		return found
	}
	return trio{see(path), see(path + "-wal"), see(path + "-shm")}
}

// current reports whether the files are still the opened ones. Data written to other files is lost.
func (f *file) current() bool {
	now := lookAt(f.path)
	return f.identity.database != nil && now.database != nil && now.database.size > 0 && same(f.identity.database, now.database) &&
		same(f.identity.log, now.log) && same(f.identity.index, now.index)
}

// unmoved reports whether the database file is the opened one, or the one that could not be opened.
func (f *file) unmoved() bool {
	now, err := look(f.path)
	return err == nil && f.found != nil && f.found.id == now.id
}

func same(a, b *sight) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.id == b.id
}

// abandoned reports whether path has a log or an index of no database, or of another one than the database at path. held is the lock
// file.
func abandoned(held *os.File, path string) bool {
	now := lookAt(path)
	switch {
	case now.log == nil && now.index == nil:
		return false
	case now.database == nil || now.database.size == 0:
		return true
	case now.log == nil: // SQLite removes the index before the log
		return true
	}
	// The log is the one that was last used here, but the database is another one. A copy of all files has a new log, too.
	database, log := remembered(held)
	return database != "" && log == now.log.id.String() && database != now.database.id.String()
}

// hasAbandoned is abandoned without changing anything. A process that creates the state holds the lock meanwhile: then the log may exist
// for a moment without its database, and nothing is abandoned.
func hasAbandoned(path string) bool {
	held, err := os.Open(path + ".lock")
	if err != nil {
		return false
	}
	defer held.Close()
	if !abandoned(held, path) {
		return false
	}
	free, err := tryLock(held, true)
	return (free || err != nil) && abandoned(held, path)
}

// moveAbandoned puts out of the way what abandoned has found. The caller holds the exclusive lock.
func (f *file) moveAbandoned(ctx context.Context, held *os.File) error {
	if !abandoned(held, f.path) {
		return nil // another process was faster
	}
	now := lookAt(f.path)
	what := "replaced"
	switch {
	case now.database == nil:
		what = "removed"
	case now.database.size == 0:
		what = "emptied"
		if err := f.remove(ctx, ""); err != nil { // a process that has it open would keep all others from using it
			return err
		}
	}
	if err := f.remove(ctx, "-shm"); err != nil { // it can be made again from the log
		return err
	}
	if now.log == nil {
		if now.database != nil {
			f.report("the state's log was removed: what had not been folded into the state is lost")
		}
		return nil
	}
	aside := asideName(f.path) + "-wal"
	err := f.rename(ctx, "-wal", aside)
	if err == nil {
		f.report(fmt.Sprintf("the state was %s while its log was still there: the log is now %s", what, aside))
	}
	return err
}

// remember writes to the lock file which database uses which log.
func remember(held *os.File, now trio) {
	if now.database == nil || now.log == nil {
		return
	}
	if database, log := remembered(held); database == now.database.id.String() && log == now.log.id.String() {
		return
	}
	_, _ = held.WriteAt(fmt.Appendf(nil, "%s %s\n", now.database.id, now.log.id), 0) // without it, only less is noticed
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

// rename renames the file with the suffix, which may be missing.
func (f *file) rename(ctx context.Context, suffix, to string) error {
	err := patiently(ctx, f.timeout, func() error { return os.Rename(f.path+suffix, to) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// remove removes the file with the suffix, which may be missing. Its name is free at once: on Windows a file that another program has mapped
// into memory keeps its name, but can be given another.
func (f *file) remove(ctx context.Context, suffix string) error {
	gone := asideName(f.path) + suffix + ".removed"
	if err := f.rename(ctx, suffix, gone); err != nil {
		return err
	}
	if err := os.Remove(gone); err != nil && !inTheWay(err) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

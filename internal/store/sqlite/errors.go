package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/ctxls/ctxls/internal/core/coded"
	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// errDamaged marks content that this program cannot have written.
var errDamaged = errors.New("the state holds something that ctxls never wrote")

// errNotRegular refuses a directory, a pipe or a device.
func errNotRegular(path string) error {
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
}

// code returns the primary result code of SQLite in err, 0 if there is none.
func code(err error) int {
	if e, ok := errors.AsType[*modernc.Error](err); ok {
		return e.Code() & 0xff // the higher bits are the extended code
	}
	return 0
}

// damaged reports whether err says that the file is not a valid database.
func damaged(err error) bool {
	c := code(err)
	return c == lib.SQLITE_CORRUPT || c == lib.SQLITE_NOTADB || errors.Is(err, errDamaged)
}

// busy reports whether err says that another process holds the lock.
func busy(err error) bool {
	c := code(err)
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_LOCKED
}

// explain converts err to a *coded.Error for users: without SQL and paths. The original error is its cause.
func explain(ctx context.Context, err error, timeout time.Duration) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*coded.Error](err); ok {
		return err
	}
	say := func(code coded.Code, message string) error {
		return &coded.Error{Code: code, Message: message, Cause: err}
	}
	if ctx.Err() != nil {
		return &coded.Error{Code: coded.Unavailable, Message: "the state was not reached in time: " + ctx.Err().Error(), Cause: ctx.Err()}
	}
	if busy(err) || errors.Is(err, errLocked) {
		return say(coded.Unavailable, "the state is busy: another process has held it for more than "+timeout.String())
	}
	if damaged(err) {
		return say(coded.Unavailable, "the state is damaged and could not be moved aside")
	}
	switch code(err) {
	case lib.SQLITE_FULL:
		return say(coded.Unavailable, "the state could not be written: the disk is full")
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_CANTOPEN:
		return say(coded.Unavailable, "the state could not be opened for writing")
	case lib.SQLITE_IOERR:
		return say(coded.Unavailable, "the state could not be read or written: the disk failed")
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return say(coded.Unavailable, "the state could not be opened: "+e.Err.Error())
	}
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return say(coded.Unavailable, "the state could not be opened: "+e.Error())
	}
	return say(coded.Internal, "the state could not be read or written")
}

package sqlite

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	lib "modernc.org/sqlite/lib"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// Unwritable reports whether an error of Open says that the place cannot be written: no permission, a read-only file system, a full disk,
// or no directory.
func Unwritable(err error) bool {
	for _, cause := range []error{fs.ErrPermission, syscall.EROFS, syscall.ENOSPC, syscall.ENOTDIR} {
		if errors.Is(err, cause) {
			return true
		}
	}
	switch code(err) {
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_CANTOPEN, lib.SQLITE_FULL:
		return true
	}
	return false
}

// OpenCopy opens a copy of the store in the system's directory for temporary files, for a process that only reads and cannot write the
// store itself. A missing store is an empty copy. Close removes the copy, and what was written to it is lost. The errors are those of Open.
func OpenCopy(ctx context.Context, o Options) (*Store, error) {
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, explain(ctx, err, 0)
	}
	if o.network == nil {
		o.network = network
	}
	path, _ = standIn(followLinks(path), o)
	dir, err := os.MkdirTemp("", "ctxls-")
	if err != nil {
		return nil, explain(ctx, err, 0)
	}
	copied := filepath.Join(dir, filepath.Base(path))
	for _, suffix := range []string{"", "-wal"} { // a process that writes at this moment would write the place, too
		if err == nil {
			err = copyFile(copied+suffix, path+suffix)
		}
	}
	switch {
	case err == nil && o.MustExist && !exists(copied):
		err = coded.Errorf(coded.NotFound, "no state at %s", o.Path)
	case err == nil && !o.Usual && otherFile(copied):
		err = errNoState(o.Path)
	}
	var s *Store
	if err == nil {
		o.Path, o.Fleeting, o.MustExist = copied, false, false
		s, err = Open(ctx, o)
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, explain(ctx, err, 0)
	}
	s.temporary = dir
	return s, nil
}

// copyFile copies a file for the user alone. A missing file is not copied.
func copyFile(to, from string) error {
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular(from)
	}
	if err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the lock if it is free. It is released with the file or the process.
func tryLock(f *os.File, exclusive bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// serial is always "": open files cannot be removed on Windows, so nothing needs the identity of a log's database.
func serial(os.FileInfo) string { return "" }

// ownedByUs is always true: on Windows, other users cannot reach a user's temporary directory.
func ownedByUs(os.FileInfo) bool { return true }

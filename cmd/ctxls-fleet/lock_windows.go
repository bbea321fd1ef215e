package main

import (
	"os"

	"golang.org/x/sys/windows"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// lock makes this the only process that pushes from this machine. The system lets go of it when the process ends.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if err != nil {
		f.Close()
		return nil, coded.Errorf(coded.Unavailable, "another ctxls-fleet pushes from this machine already")
	}
	return func() { f.Close() }, nil
}

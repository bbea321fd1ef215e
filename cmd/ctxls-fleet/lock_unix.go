//go:build unix

package main

import (
	"os"
	"syscall"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// lock makes this the only process that pushes from this machine. The system lets go of it when the process ends.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, coded.Errorf(coded.Unavailable, "another ctxls-fleet pushes from this machine already")
	}
	return func() { f.Close() }, nil
}

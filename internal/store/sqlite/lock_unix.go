//go:build !windows

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock if it is free. It is released with the file or the process.
func tryLock(f *os.File, exclusive bool) (bool, error) {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}

// look returns what is at path.
func look(path string) (*sight, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	found := &sight{size: info.Size(), regular: info.Mode().IsRegular()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		found.id = fileID{uint64(stat.Dev), stat.Ino}
	}
	return found, nil
}

// ownedByUs reports whether the file belongs to the user of this process.
func ownedByUs(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// share does nothing: here open files can be renamed and removed.
func share() {}

// inTheWay reports whether err may pass by itself: here no use of a file keeps other programs from opening, renaming or removing it.
func inTheWay(error) bool { return false }

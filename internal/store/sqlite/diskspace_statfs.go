//go:build linux || darwin

package sqlite

import "syscall"

// freeBytes returns how much may still be written to the file system that holds dir; -1 is unknown.
func freeBytes(dir string) int64 {
	var stat syscall.Statfs_t
	if syscall.Statfs(dir, &stat) != nil {
		return -1
	}
	return int64(stat.Bavail) * int64(stat.Bsize)
}

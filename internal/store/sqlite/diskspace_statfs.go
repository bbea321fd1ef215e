//go:build linux || darwin

package sqlite

import "syscall"

// freeBytes returns the free space on the file system of dir, in bytes; -1 is unknown.
func freeBytes(dir string) int64 {
	var stat syscall.Statfs_t
	if syscall.Statfs(dir, &stat) != nil {
		return -1
	}
	return int64(stat.Bavail) * int64(stat.Bsize)
}

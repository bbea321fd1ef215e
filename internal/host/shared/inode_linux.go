package shared

import (
	"os"
	"strconv"
	"syscall"
)

// inodeOf returns the inode of a regular file, in digits.
func inodeOf(path string) (string, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return strconv.FormatUint(stat.Ino, 10), true
}

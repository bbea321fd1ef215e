//go:build unix

package transcript

import (
	"io/fs"
	"os"
	"syscall"
)

// openNonblocking opens a file without waiting for a writer: it may have become a FIFO since it was checked.
func openNonblocking(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}

// identity returns what identifies the file, whatever its path is.
func identity(_ *os.File, info fs.FileInfo) (device, inode uint64) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Dev), uint64(stat.Ino)
	}
	return 0, 0
}

//go:build unix

package transcript

import (
	"io/fs"
	"os"
	"syscall"
)

// openNonblocking opens a file that may have become a FIFO since it was looked at, without waiting for a writer.
func openNonblocking(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}

// identity returns what tells the file from all others, whatever path it goes by.
func identity(_ *os.File, info fs.FileInfo) (device, inode uint64) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Dev), uint64(stat.Ino)
	}
	return 0, 0
}

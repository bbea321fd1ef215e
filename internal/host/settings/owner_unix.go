//go:build !windows

package settings

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and group of another one.
func keepOwner(file *os.File, of fs.FileInfo) error {
	want, ok := of.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if is, ok := info.Sys().(*syscall.Stat_t); ok && is.Uid == want.Uid && is.Gid == want.Gid {
		return nil
	}
	return file.Chown(int(want.Uid), int(want.Gid))
}

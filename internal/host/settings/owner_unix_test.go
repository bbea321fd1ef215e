//go:build !windows

package settings

import (
	"fmt"
	"io/fs"
	"syscall"
)

func owner(info fs.FileInfo) string {
	stat := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d:%d", stat.Uid, stat.Gid)
}

func makeFIFO(path string) error { return syscall.Mkfifo(path, 0o600) }

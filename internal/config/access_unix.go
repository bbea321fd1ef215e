//go:build unix

package config

import (
	"os"
	"syscall"
)

// openNonblock prevents a wait when a FIFO without a writer is opened.
const openNonblock = syscall.O_NONBLOCK

// foreign reports whether a file belongs to another user than the one ctxls runs as.
func foreign(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) != os.Geteuid()
}

//go:build !windows

package sqlite

import "golang.org/x/sys/unix"

// mayWrite returns why the user of this process may not write to path, a file or a directory; nil if the user may.
func mayWrite(path string) error {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
}

package settings

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps the names of two files in one step. The error is errors.ErrUnsupported if the file system cannot.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // EPERM: a sandbox that does not know the call
		return errors.ErrUnsupported
	}
	return err
}

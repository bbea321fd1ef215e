package settings

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps the names of two files in one step. The error is errors.ErrUnsupported if the file system cannot.
func exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}

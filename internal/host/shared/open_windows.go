package shared

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Open opens a file for reading. Unlike os.Open it lets other programs rename, replace and remove the file meanwhile: hosts write their
// settings and records while hooks read them, and would fail.
func Open(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	const others = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.GENERIC_READ, others, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// InTheWay reports whether err may pass by itself, because another program has the file open just now without letting others rename it.
func InTheWay(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}

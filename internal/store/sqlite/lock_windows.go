package sqlite

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// lockAt is the high half of the offset of the byte that is locked. Locks of Windows forbid others to read, and everybody to write,
// what they cover, so it lies far behind what remember writes.
const lockAt = 1 << 30

// tryLock takes the lock if no other process has it. It ends with the file or the process.
func tryLock(f *os.File, exclusive bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// inTheWay reports whether err may pass by itself: another process renames or removes the file just now, or has opened it without
// sharing that, as scanners for viruses and programs for backups do. A file that is being removed is "access denied" until it is gone.
func inTheWay(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

// look returns what is at path. A handle without any access blocks no other program
// (https://learn.microsoft.com/windows/win32/fileio/creating-and-opening-files). os.Stat would not do: what identifies the file it finds
// out when that is first asked for, and by then another file may have the name.
func look(path string) (*sight, error) {
	fail := func(err error) (*sight, error) { return nil, &fs.PathError{Op: "open", Path: path, Err: err} }
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return fail(err)
	}
	const others = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, 0, others, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return fail(err)
	}
	defer windows.CloseHandle(h)
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		if kind, _ := windows.GetFileType(h); kind != windows.FILE_TYPE_DISK {
			return &sight{}, nil
		}
		return fail(err)
	}
	return &sight{
		id:      fileID{uint64(info.VolumeSerialNumber), uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)},
		size:    int64(info.FileSizeHigh)<<32 | int64(info.FileSizeLow),
		regular: info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY == 0,
	}, nil
}

// ownedByUs is always true: on Windows, other users cannot reach a user's temporary directory.
func ownedByUs(os.FileInfo) bool { return true }

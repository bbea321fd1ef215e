package sqlite

import "golang.org/x/sys/windows"

// mayWrite always returns nil: only a write shows what access lists allow.
func mayWrite(string) error { return nil }

// freeBytes returns the free space on the file system of dir, in bytes; -1 is unknown.
func freeBytes(dir string) int64 {
	var free uint64
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil || windows.GetDiskFreeSpaceEx(name, &free, nil, nil) != nil {
		return -1
	}
	return int64(free)
}

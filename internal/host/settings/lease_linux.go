package settings

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lease keeps other programs from opening a file (fcntl(2), "Leases"): who tries waits until it is released, 45 s at most
// (/proc/sys/fs/lease-break-time). A nil lease is none: the file system has no leases, or the file is another user's.
type lease struct {
	file *os.File
	kind int
}

// leaseOf takes a lease of a file: with alone, no other program may open it, and otherwise none may open it for writing. Who has it open
// like this gets some time to close it; after that there is no lease. Network file systems say the same where they have none.
func leaseOf(path string, alone bool) *lease {
	mode, kind := os.O_RDONLY, unix.F_RDLCK
	if alone {
		mode, kind = os.O_RDWR, unix.F_WRLCK
	}
	file, err := os.OpenFile(path, mode, 0)
	if err != nil {
		return nil // the next step says it
	}
	for range looks {
		if _, err = unix.FcntlInt(file.Fd(), unix.F_SETLEASE, kind); err == nil {
			return &lease{file, kind}
		}
		if !errors.Is(err, unix.EAGAIN) {
			break
		}
		time.Sleep(settle / looks)
	}
	_ = file.Close()
	return nil
}

// awaited reports whether a program waits for the lease to be released.
func (l *lease) awaited() bool {
	if l == nil {
		return false
	}
	kind, err := unix.FcntlInt(l.file.Fd(), unix.F_GETLEASE, 0)
	return err == nil && kind != l.kind
}

// fill replaces the content of the file for those who wait to read it.
func (l *lease) fill(text []byte) {
	if l == nil {
		return
	}
	if _, err := io.Copy(io.NewOffsetWriter(l.file, 0), bytes.NewReader(text)); err == nil {
		_ = l.file.Truncate(int64(len(text)))
	}
}

func (l *lease) release() {
	if l != nil {
		_ = l.file.Close()
	}
}

package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// errLocked says that the lock beside the database was not free in time.
var errLocked = errors.New("the lock beside the state is held")

// lock takes the lock beside the database at path: shared for opening the database, exclusive for moving it aside. SQLite finds a
// database's log and index by name, some time after it opened the database. If the name belonged to another file by then, SQLite would
// use the new log with the old file. The lock keeps the three files together. It is never held while state is read or written.
//
// It waits up to timeout. It makes a missing directory, for its owner only. Closing the file releases the lock.
func lock(ctx context.Context, path string, exclusive bool, timeout time.Duration) (*os.File, error) {
	var f *os.File
	err := patiently(ctx, timeout, func() (err error) {
		f, err = os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
			f, err = os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(timeout)
	for {
		held, err := tryLock(f, exclusive)
		if held {
			return f, nil
		}
		if err == nil && time.Now().After(deadline) {
			err = errLocked
		}
		if err == nil {
			err = pause(ctx, time.Millisecond)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
	}
}

// maxInTheWay bounds how long patiently tries. A program that is in the way for longer keeps the file open.
const maxInTheWay = time.Second

// patiently calls do until it succeeds or fails for another reason than that another program is in the way, for timeout or maxInTheWay at most.
func patiently(ctx context.Context, timeout time.Duration, do func() error) error {
	deadline := time.Now().Add(min(timeout, maxInTheWay))
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		err := do()
		if err == nil || !inTheWay(err) || time.Now().After(deadline) || pause(ctx, wait) != nil {
			return err
		}
	}
}

// pause waits for d, or less when ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

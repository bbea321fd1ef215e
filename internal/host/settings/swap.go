package settings

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ctxls/ctxls/internal/host/shared"
)

// Hosts write their settings while ctxls is being installed: Claude Code and Qwen Code by a rename, Gemini CLI in place, and none under a
// lock. Checking for a write and renaming afterwards would lose a write in between. So the new file and the old one are exchanged in
// one step, and the file that came out is checked. Meanwhile, leases keep programs from opening the new file at all, and the old one
// for writing. A program that waits for the old one is about to write it, so the old file gets its place back first.

// settle is the time for a host that had the old file open to finish writing it, looks is how often it is checked in that time.
const (
	settle = 20 * time.Millisecond
	looks  = 10
)

// swap replaces f by the file temp, which contains text. temp is gone afterwards.
func (f *File) swap(temp string, text []byte) error {
	defer os.Remove(temp)
	if f.Text == nil {
		err := os.Link(temp, f.Path) // fails if a file exists by now
		if err == nil || !errors.Is(err, fs.ErrExist) && f.unchanged() == nil {
			if err != nil { // a file system without links
				err = f.rename(temp)
			}
			return err
		}
		return f.changed()
	}
	old, fresh := leaseOf(f.Path, false), leaseOf(temp, true)
	defer old.release()
	defer fresh.release()
	if err := f.unchanged(); err != nil {
		return err
	}
	err := exchange(temp, f.Path)
	if errors.Is(err, errors.ErrUnsupported) {
		return f.rename(temp)
	}
	if err != nil {
		return f.gone(err)
	}
	if came, err := read(temp); err != nil || !bytes.Equal(came, f.Text) || old.awaited() {
		if exchange(temp, f.Path) == nil {
			fresh.fill(came) // who has looked up our file already is to read the host's
		}
		return f.changed()
	}
	for range looks {
		fresh.release()
		time.Sleep(settle / looks)
		if same, err := holds(temp, f.Text); err != nil || !same || old.awaited() {
			f.swapBack(temp, text)
			return f.changed()
		}
	}
	return nil
}

// rename puts temp in the place of f where two files cannot be exchanged. On Windows that fails while another program has the file
// open, so it is tried for a second, each time after a look whether the file is still the one that was read.
func (f *File) rename(temp string) error {
	err := patiently(func() error {
		if err := f.unchanged(); err != nil {
			return err
		}
		return os.Rename(temp, f.Path)
	})
	if shared.InTheWay(err) {
		return f.changed()
	}
	return f.gone(err)
}

// patiently calls do until another program is not in its way, for a second at most.
func patiently(do func() error) (err error) {
	for range 50 {
		if err = do(); !shared.InTheWay(err) {
			break
		}
		time.Sleep(settle)
	}
	return err
}

// swapBack undoes an exchange of which came out what another program wrote. Where it has written once more, over text, that stays.
func (f *File) swapBack(temp string, text []byte) {
	if exchange(temp, f.Path) != nil {
		return
	}
	if same, err := holds(temp, text); err == nil && !same {
		_ = exchange(temp, f.Path)
	}
}

// takeAway removes the file, unless the removed file was written by another program.
func (f *File) takeAway() error {
	temp, err := f.temp(f.Path, nil) // only for its name
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	old := leaseOf(f.Path, false)
	defer old.release()
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := patiently(func() error { return os.Rename(f.Path, temp) }); err != nil {
		return f.gone(err)
	}
	for range looks {
		if same, err := holds(temp, f.Text); err != nil || !same || old.awaited() {
			if err := os.Link(temp, f.Path); err != nil && !errors.Is(err, fs.ErrExist) { // if it exists, the program wrote it again
				_ = os.Rename(temp, f.Path)
			}
			return f.changed()
		}
		time.Sleep(settle / looks)
	}
	return nil
}

// holds reports whether the file at path contains text; nil is no file.
func holds(path string, text []byte) (bool, error) {
	now, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return text == nil, nil
	}
	return text != nil && bytes.Equal(now, text), err
}

// temp makes a file beside path that contains text, synced to the disk, with the mode and owner of f.
func (f *File) temp(path string, text []byte) (name string, err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if _, err = temp.Write(text); err != nil {
		return "", err
	}
	if f.info != nil {
		if err = keepOwner(temp, f.info); err != nil {
			return "", err
		}
	}
	if err = temp.Chmod(f.mode); err != nil { // after the owner, since that changes the mode
		return "", err
	}
	if err = temp.Sync(); err != nil {
		return "", err
	}
	return temp.Name(), temp.Close()
}

// write writes text to path, with the mode and owner of f, in one step: readers see all of it or nothing, even after a power failure.
func (f *File) write(path string, text []byte) error {
	temp, err := f.temp(path, text)
	if err != nil {
		return err
	}
	if err = patiently(func() error { return os.Rename(temp, path) }); err != nil {
		_ = os.Remove(temp)
	}
	return err
}

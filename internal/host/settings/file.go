package settings

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/host/shared"
)

const (
	// maxFile bounds a settings file, in bytes. Users write them; Claude Code's own grow by one line for each permission.
	maxFile = 1 << 20
	// backupSuffix is the suffix of the backup from before the installation.
	backupSuffix = ".ctxls-backup"
	// maxLinks bounds the length of a chain of symbolic links, as on Linux.
	maxLinks = 40
)

// File is a host's settings file on disk.
type File struct {
	// Path is the file itself: the target of a symbolic link, so that the link stays.
	Path string
	// Text is the content; nil if there is no file.
	Text []byte
	mode fs.FileMode
	info fs.FileInfo // nil where there is no file
}

// ErrChanged is the cause of an error that says that another program wrote the file since it was opened.
var ErrChanged = errors.New("changed meanwhile")

// Open reads a settings file. A missing file is no error. A file that is not regular or too large is an error with coded.Invalid.
func Open(path string) (*File, error) {
	path, err := follow(path)
	if err != nil {
		return nil, err
	}
	var f *File
	missing := 0
	for range 50 { // a host may be writing it, on a busy machine for some time
		if f, err = open(path); err != nil || len(f.Text) > 0 {
			break
		}
		if f.Text == nil && !aside(path) { // it may have come back between the two looks
			if missing++; missing == 5 {
				break
			}
			continue
		}
		time.Sleep(settle)
	}
	return f, err
}

func open(path string) (*File, error) {
	f := &File{Path: path, mode: 0o600}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, coded.Errorf(coded.Invalid, "%s: not a regular file", path)
	case info.Size() > maxFile:
		return nil, coded.Errorf(coded.Invalid, "%s: %d bytes, want at most %d", path, info.Size(), maxFile)
	}
	text, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	f.mode, f.info, f.Text = info.Mode().Perm(), info, text
	return f, err
}

// aside reports whether a host has moved the file aside, to put a new one in its place: Qwen Code does so.
func aside(path string) bool {
	_, err := os.Lstat(path + ".orig")
	return err == nil
}

// BackupPath returns the path of the backup from before the installation.
func (f *File) BackupPath() string { return f.Path + backupSuffix }

// Before returns the content from before the installation, nil if it is not known.
func (f *File) Before() []byte {
	text, err := read(f.BackupPath())
	if err != nil {
		return nil
	}
	return text
}

// Replace replaces the content by text, in one step and with the same mode and owner. It makes missing directories and notes them for
// Remove. fresh says that ctxls was not in the file. Then the old content becomes the backup; if there was no file, an old backup is
// removed. If another program wrote the file since it was opened, its content stays and the error is ErrChanged.
func (f *File) Replace(text []byte, fresh bool) (err error) {
	if f.Text != nil {
		if err := patiently(f.writable); err != nil {
			return f.gone(err)
		}
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	made, err := makeDirs(filepath.Dir(f.Path))
	if err != nil {
		return err
	}
	if fresh {
		if err := f.backup(); err != nil {
			return err
		}
	}
	if made > 0 {
		if err := noteMade(filepath.Dir(f.Path), made); err != nil {
			return err
		}
	}
	temp, err := f.temp(f.Path, text)
	if err == nil {
		err = f.swap(temp, text)
	}
	if err != nil && fresh {
		_ = f.removeBackup()
	}
	return err
}

// writable is nil where the file may be written: who may not write it does not mean it to be replaced.
func (f *File) writable() error {
	w, err := os.OpenFile(f.Path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return w.Close()
}

// Remove takes the file away, and the directories that Replace made for it where nothing else is in them. Where another program wrote
// the file since it was opened, the file stays and the error is ErrChanged.
func (f *File) Remove() error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := f.takeAway(); err != nil {
		return err
	}
	removeMade(filepath.Dir(f.Path))
	return nil
}

// Forget removes what ctxls keeps beside the file: the backup, and the note of the directories that it made. Neither is needed once ctxls is
// not in the file any more.
func (f *File) Forget() error {
	if err := f.removeBackup(); err != nil {
		return err
	}
	removeMade(filepath.Dir(f.Path))
	return nil
}

func (f *File) removeBackup() error {
	if err := os.Remove(f.BackupPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f *File) backup() error {
	if f.Text == nil {
		return f.removeBackup()
	}
	return f.write(f.BackupPath(), f.Text)
}

// unchanged returns an error if the file was written since it was opened. A running host may do so at any time.
func (f *File) unchanged() error {
	same, err := holds(f.Path, f.Text)
	if err == nil && !same {
		return f.changed()
	}
	return err
}

// gone returns err, or that the file changed if it is not there any more.
func (f *File) gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return f.changed()
	}
	return err
}

func (f *File) changed() error {
	return &coded.Error{Code: coded.Unavailable, Message: f.Path + ": another program writes this file; nothing was done, try again", Cause: ErrChanged}
}

func read(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a FIFO would wait for its writer
		return nil, coded.Errorf(coded.Invalid, "%s: not a regular file", path)
	}
	var file *os.File
	if err := patiently(func() (err error) { file, err = shared.Open(path); return err }); err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if text == nil {
		text = []byte{} // an empty file is not a missing one
	}
	return text, err
}

// follow returns the end of a chain of symbolic links, whether or not it exists.
func follow(path string) (string, error) {
	for range maxLinks {
		target, err := os.Readlink(path)
		if err != nil { // no link, or nothing
			return path, nil
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", coded.Errorf(coded.Invalid, "%s: too many symbolic links", path)
}

package settings

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ctxls/ctxls/internal/core"
)

const (
	// maxFile bounds a settings file, in bytes. People write them; Claude Code's own grow by a line a permission.
	maxFile = 1 << 20
	// backupSuffix names the copy of a file as it was before ctxls came in.
	backupSuffix = ".ctxls-backup"
	// maxLinks is how many symbolic links in a row are followed, as many as Linux does.
	maxLinks = 40
)

// File is a host's settings file on disk.
type File struct {
	// Path is the file itself: where a symbolic link leads, so that the link stays one.
	Path string
	// Text is what it holds; nil where there is no file.
	Text []byte
	// Dirs is how many directories above the file are the host's own, as in .opencode/plugin/ctxls.js; 0 stands for 1.
	Dirs int
	mode fs.FileMode
}

// Open reads a settings file. One that does not exist is no error; one that is no regular file or too large is, with
// core.CodeInvalid.
func Open(path string) (*File, error) {
	path, err := follow(path)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, mode: 0o600}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, core.Errorf(core.CodeInvalid, "%s: not a regular file", path)
	case info.Size() > maxFile:
		return nil, core.Errorf(core.CodeInvalid, "%s: %d bytes, want at most %d", path, info.Size(), maxFile)
	}
	f.mode = info.Mode().Perm()
	f.Text, err = read(path)
	return f, err
}

// BackupPath returns where the file as it was before ctxls is kept.
func (f *File) BackupPath() string { return f.Path + backupSuffix }

// Before returns the file as it was before ctxls, nil where that is not known.
func (f *File) Before() []byte {
	text, err := read(f.BackupPath())
	if err != nil {
		return nil
	}
	return text
}

// Replace puts text in the file's place, in one step and with its mode. Directories that it needs are made. With fresh, ctxls
// was not in the file: it is kept as the backup first, or, where there was none, a backup from long ago is removed.
func (f *File) Replace(text []byte, fresh bool) error {
	if f.Text != nil {
		w, err := os.OpenFile(f.Path, os.O_WRONLY, 0) // who may not write it does not mean it to be replaced
		if err != nil {
			return err
		}
		_ = w.Close()
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	dir := filepath.Dir(f.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if fresh {
		if err := f.backup(); err != nil {
			return err
		}
	}
	return write(f.Path, text, f.mode)
}

// Remove takes the file away, and the host's own directories above it that are then empty: there were none before ctxls.
func (f *File) Remove() error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := os.Remove(f.Path); err != nil {
		return err
	}
	dir := f.Path
	for range max(f.Dirs, 1) {
		dir = filepath.Dir(dir)
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || os.Remove(dir) != nil { // not removed, as it should, where something else is in it
			break
		}
	}
	return nil
}

// Forget removes the backup, which nothing needs once ctxls is out of the file.
func (f *File) Forget() error {
	if err := os.Remove(f.BackupPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f *File) backup() error {
	if f.Text == nil {
		return f.Forget()
	}
	return write(f.BackupPath(), f.Text, f.mode)
}

// unchanged reports a file that somebody wrote since it was opened: a host that runs may do so at any time.
func (f *File) unchanged() error {
	text, err := read(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = nil, nil
	}
	if err == nil && !bytes.Equal(text, f.Text) {
		return core.Errorf(core.CodeUnavailable, "%s: changed by another program meanwhile; nothing was done, try again", f.Path)
	}
	return err
}

// write puts text at path in one step: readers see all of it or nothing, and so does a machine that loses power.
func write(path string, text []byte, mode fs.FileMode) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if _, err = temp.Write(text); err != nil {
		return err
	}
	if err = temp.Chmod(mode); err != nil {
		return err
	}
	if err = temp.Sync(); err != nil {
		return err
	}
	if err = temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

func read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if text == nil {
		text = []byte{} // an empty file is not a missing one
	}
	return text, err
}

// follow returns where a chain of symbolic links ends, whether or not something is there.
func follow(path string) (string, error) {
	for range maxLinks {
		target, err := os.Readlink(path)
		if err != nil { // not a link, or nothing at all
			return path, nil
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", core.Errorf(core.CodeInvalid, "%s: too many symbolic links", path)
}

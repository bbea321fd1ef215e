package contextfiles

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The errors of FS.ReadFile beside those of the file system.
var (
	ErrTooLarge   = errors.New("the file is too large")
	ErrNotRegular = errors.New("not a regular file")
)

// FS is the file system that context files are read from. Names are absolute paths of the system.
type FS interface {
	// Stat follows links.
	Stat(name string) (fs.FileInfo, error)
	// Lstat does not follow a link.
	Lstat(name string) (fs.FileInfo, error)
	// ReadDir returns the entries of a directory in the order of the file system, which is the order in which Claude Code loads
	// rules; at most maxEntries.
	ReadDir(name string) ([]fs.DirEntry, error)
	// ReadFile reads a regular file of at most limit bytes. It waits for no writer of a FIFO.
	ReadFile(name string, limit int64) ([]byte, error)
	// Resolve returns the path that links lead to.
	Resolve(name string) (string, error)
}

// maxEntries bounds the entries of one directory that are looked at.
const maxEntries = 20_000

// Disk is the file system of this machine.
type Disk struct{}

// Stat implements FS.
func (Disk) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Lstat implements FS.
func (Disk) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// ReadDir implements FS.
func (Disk) ReadDir(name string) ([]fs.DirEntry, error) {
	dir, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxEntries)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

// ReadFile implements FS.
func (Disk) ReadFile(name string, limit int64) ([]byte, error) {
	if info, err := os.Stat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a FIFO
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	if info.Size() > limit {
		return nil, ErrTooLarge
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if int64(len(data)) > limit {
		return nil, ErrTooLarge
	}
	return data, err
}

// Resolve implements FS.
func (Disk) Resolve(name string) (string, error) { return filepath.EvalSymlinks(name) }

// Overlay is a file system with other contents for some files: those of unsaved buffers, and files that are taken as removed. It
// holds names as they are spelled by who asks; a buffer of a file that the disk does not have is a file all the same.
type Overlay struct {
	FS
	Buffers map[string][]byte
	Removed map[string]bool // files, or directories with all that is below them
}

func (o Overlay) removed(name string) bool {
	for len(o.Removed) > 0 {
		if o.Removed[name] {
			return true
		}
		parent := filepath.Dir(name)
		if parent == name {
			return false
		}
		name = parent
	}
	return false
}

func gone(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }

// Stat implements FS.
func (o Overlay) Stat(name string) (fs.FileInfo, error) {
	if o.removed(name) {
		return nil, gone("stat", name)
	}
	info, err := o.FS.Stat(name)
	if text, ok := o.Buffers[name]; ok {
		return bufferInfo{name: filepath.Base(name), size: int64(len(text)), of: info}, nil
	}
	return info, err
}

// Lstat implements FS.
func (o Overlay) Lstat(name string) (fs.FileInfo, error) {
	if o.removed(name) {
		return nil, gone("lstat", name)
	}
	info, err := o.FS.Lstat(name)
	if text, ok := o.Buffers[name]; ok && err != nil {
		return bufferInfo{name: filepath.Base(name), size: int64(len(text))}, nil
	}
	return info, err
}

// ReadDir implements FS.
func (o Overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	if o.removed(name) {
		return nil, gone("open", name)
	}
	entries, err := o.FS.ReadDir(name)
	if len(o.Removed) == 0 && len(o.Buffers) == 0 {
		return entries, err
	}
	there := map[string]bool{}
	kept := make([]fs.DirEntry, 0, len(entries))
	for _, entry := range entries {
		if !o.removed(filepath.Join(name, entry.Name())) {
			kept = append(kept, entry)
			there[entry.Name()] = true
		}
	}
	for path, text := range o.Buffers {
		if filepath.Dir(path) == name && !there[filepath.Base(path)] && !o.removed(path) {
			kept = append(kept, fs.FileInfoToDirEntry(bufferInfo{name: filepath.Base(path), size: int64(len(text))}))
			err = nil
		}
	}
	return kept, err
}

// ReadFile implements FS.
func (o Overlay) ReadFile(name string, limit int64) ([]byte, error) {
	if o.removed(name) {
		return nil, gone("open", name)
	}
	if text, ok := o.Buffers[name]; ok {
		if int64(len(text)) > limit {
			return nil, ErrTooLarge
		}
		return text, nil
	}
	return o.FS.ReadFile(name, limit)
}

// Resolve implements FS.
func (o Overlay) Resolve(name string) (string, error) {
	if o.removed(name) {
		return "", gone("lstat", name)
	}
	real, err := o.FS.Resolve(name)
	if _, ok := o.Buffers[name]; ok && err != nil {
		return name, nil
	}
	return real, err
}

package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The largest files that are read. Settings written by hand are a hundredth of that. A workspace's is held shorter: who
// wrote it may mean harm, every hook reads it, and a megabyte of settings takes longer to check than a hook has.
const (
	maxUserBytes      = 1 << 20
	maxWorkspaceBytes = 64 << 10
)

// errForeign says that a workspace's file belongs to somebody else.
var errForeign = errors.New("belongs to another user: ignored")

// fileLayer reads a file as a layer, nil where there is none.
func fileLayer(path string, workspace bool) *layer {
	open, most := openUserFile, maxUserBytes
	if workspace {
		open, most = openWorkspaceFile, maxWorkspaceBytes
	}
	data, err := readFile(path, open, most)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !exists(path):
		return nil
	case errors.Is(err, errForeign):
		return &layer{problems: []Problem{{File: path, Message: err.Error(), Warning: true}}}
	case err != nil:
		return &layer{problems: []Problem{{File: path, Message: "cannot be read: " + reason(err)}}, bad: true}
	}
	return parse(path, data, workspace)
}

// readFile returns what the regular file at path holds, if that is at most so many bytes.
func readFile(path string, open func(string) (*os.File, error), most int) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// Asked of the open file: what the path names may have changed since it was looked at.
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, notRegular(info)
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("larger than %d bytes", most)
	}
	return data, err
}

// openUserFile opens the user's file, through any symbolic links: they are the user's own, and tools that manage dot files
// make them.
func openUserFile(path string) (*os.File, error) {
	// Looked at first, since opening a FIFO or a device can block or do something; and opened without blocking, since
	// what was looked at may have been replaced.
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, notRegular(info)
	}
	return os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
}

// openWorkspaceFile opens a workspace's file. A symbolic link is followed only inside the directory that holds it: a
// cloned repository must not have other files of the user read, whose contents messages would then quote. Nor does a
// file count that another user could leave above a workspace, in /tmp say.
func openWorkspaceFile(path string) (*os.File, error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	name := filepath.Base(path)
	link, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	file, err := dir.Stat(name)
	switch {
	case foreign(link), err == nil && foreign(file):
		return nil, errForeign
	case err != nil:
		return nil, fmt.Errorf("a symbolic link that cannot be followed within its directory: %s", reason(err))
	case !file.Mode().IsRegular():
		return nil, notRegular(file)
	}
	return dir.OpenFile(name, os.O_RDONLY|openNonblock, 0)
}

// notRegular says what a path names instead of a regular file.
func notRegular(info os.FileInfo) error {
	if info.IsDir() {
		return errors.New("a directory: want a regular file")
	}
	return errors.New("not a regular file")
}

// reason returns why a file could not be read, without repeating its path.
func reason(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err.Error()
	}
	return err.Error()
}

package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The largest accepted files. Settings written by hand are a hundredth of that. The limit of a workspace is lower: its
// author may be hostile, every hook reads it, and checking a megabyte takes longer than a hook may.
const (
	maxUserBytes      = 1 << 20
	maxWorkspaceBytes = 64 << 10
)

// errForeign means that a workspace's file belongs to another user.
var errForeign = errors.New("belongs to another user: ignored")

// fileLayer reads a file as a layer. It returns nil if there is no file.
func fileLayer(path string, workspace bool) *layer {
	open, most := openUserFile, maxUserBytes
	if workspace {
		open, most = openWorkspaceFile, maxWorkspaceBytes
	}
	data, err := readFile(path, open, most)
	switch {
	case (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) && !exists(path): // HOME may be /dev/null
		return nil
	case errors.Is(err, errForeign):
		return &layer{problems: []Problem{{File: path, Message: err.Error(), Warning: true}}}
	case err != nil:
		return &layer{problems: []Problem{{File: path, Message: "cannot be read: " + reason(err)}}, bad: true}
	}
	return parse(path, data, workspace)
}

// readFile returns the content of the regular file at path, up to a maximum number of bytes.
func readFile(path string, open func(string) (*os.File, error), most int) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// The check uses the open file, since the path may name another file by now.
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

// openUserFile opens the user's file, also through symbolic links. The links are the user's own, made by tools that
// manage dot files.
func openUserFile(path string) (*os.File, error) {
	// The type is checked first, since opening a FIFO or a device can block or have effects. The file is opened without
	// blocking, since it may have been replaced after the check.
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, notRegular(info)
	}
	return os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
}

// openWorkspaceFile opens a workspace's file. It follows a symbolic link only inside the file's directory. Otherwise a
// cloned repository could make ctxls read other files of the user, and messages would quote them. It also refuses a file
// that another user could put above a workspace, for example in /tmp.
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

// notRegular describes the object at a path that is not a regular file.
func notRegular(info os.FileInfo) error {
	if info.IsDir() {
		return errors.New("a directory: want a regular file")
	}
	return errors.New("not a regular file")
}

// reason returns the cause of a read error, without the path.
func reason(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err.Error()
	}
	return err.Error()
}

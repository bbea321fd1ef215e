package settings

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// madeNote is a file in a directory that was made for a settings file. It contains the number of directories that were made, counted
// upwards from this one. Without it, an empty directory may be older.
const madeNote = ".ctxls-made"

// makeDirs makes a directory and its parents, and returns how many were missing.
func makeDirs(dir string) (made int, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		made++
	}
	return made, os.MkdirAll(dir, 0o700)
}

func noteMade(dir string, made int) error {
	return os.WriteFile(filepath.Join(dir, madeNote), strconv.AppendInt(nil, int64(made), 10), 0o600)
}

// removeMade removes the directories that were made for a file in dir, as far as they are empty. The note stays while another file in
// dir runs ctxls: uninstalling from that file removes the directories.
func removeMade(dir string) {
	note := filepath.Join(dir, madeNote)
	text, err := read(note)
	if err != nil {
		return // every directory is older
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || entry.Name() == madeNote || !info.Mode().IsRegular() || info.Size() > maxFile {
			continue
		}
		if text, err := read(filepath.Join(dir, entry.Name())); err == nil && bytes.Contains(text, []byte("ctxls")) {
			return
		}
	}
	if os.Remove(note) != nil {
		return
	}
	made, _ := strconv.Atoi(string(text))
	for range made {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Remove(dir) != nil { // not if it contains something else
			return
		}
		dir = filepath.Dir(dir)
	}
}

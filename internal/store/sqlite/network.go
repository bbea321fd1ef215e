package sqlite

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// local returns path, or a path on this machine to use in its stead when path lies on a network file system: the memory
// that processes share through SQLite's write-ahead log cannot be shared between machines, and locks often fail there.
func local(path string, o Options) (string, error) {
	moved, kind := standIn(path, o)
	if kind == "" {
		return path, nil
	}
	if err := private(filepath.Dir(moved)); err != nil {
		return "", err
	}
	o.Report(fmt.Sprintf("the state's place is on a network file system (%s), which cannot hold it safely: using %s on this machine instead", kind, moved))
	return moved, nil
}

// standIn returns the path that is used in place of path, and the kind of network file system that is the reason; path
// itself and "" where there is none.
func standIn(path string, o Options) (moved, kind string) {
	if kind = o.network(existing(filepath.Dir(path))); kind == "" {
		return path, ""
	}
	fallback := o.LocalDir
	if fallback == "" {
		fallback = filepath.Join(os.TempDir(), fmt.Sprintf("ctxls-%d", os.Getuid()))
	}
	// Two states kept on the network stay two.
	sum := fnv.New32a()
	sum.Write([]byte(path))
	return filepath.Join(fallback, fmt.Sprintf("state-%08x.db", sum.Sum32())), kind
}

// existing returns dir, or the first directory above it that is there: it may not be made yet.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// private makes dir for its owner alone, and refuses one that others could have prepared: the directory for temporary
// files is everybody's.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !ownedByUs(info) {
		return coded.Errorf(coded.Unavailable, "the local directory for the state is not a directory of this user: name a file on this machine with store.path")
	}
	if info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

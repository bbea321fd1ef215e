package sqlite

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// local returns path, or a replacement on this machine if path is on a network file system, or on one that lacks something. Processes share memory through SQLite's
// write-ahead log, which does not work across machines, and locks often fail there.
func local(path string, o Options) (string, error) {
	moved, kind := standIn(path, o)
	if kind == "" {
		return path, nil
	}
	if err := private(filepath.Dir(moved)); err != nil {
		return "", err
	}
	if exists(moved) {
		return moved, nil // said when it was made
	}
	o.Report(fmt.Sprintf("the state's place is on a file system (%s) that cannot hold it safely: using %s on this machine instead", kind, moved))
	return moved, nil
}

// standIn returns the replacement of path and the kind of file system that is the reason; path itself and "" if there is none.
func standIn(path string, o Options) (moved, kind string) {
	if kind = o.network(existing(filepath.Dir(path))); kind == "" {
		return path, ""
	}
	fallback := o.LocalDir
	if fallback == "" {
		fallback = filepath.Join(os.TempDir(), fmt.Sprintf("ctxls-%d", os.Getuid()))
	}
	// Two states on the network stay two states.
	sum := fnv.New32a()
	sum.Write([]byte(path))
	return filepath.Join(fallback, fmt.Sprintf("state-%08x.db", sum.Sum32())), kind
}

// existing returns dir, or the nearest directory above it that exists.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// private makes dir for its owner only. It refuses a directory that others could have prepared, since all users share the directory for
// temporary files.
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

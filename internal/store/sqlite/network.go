package sqlite

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"

	"github.com/ctxls/ctxls/internal/core"
)

// local returns path, or a path on this machine to use in its stead when path lies on a network file system: the memory
// that processes share through SQLite's write-ahead log cannot be shared between machines, and locks often fail there.
func local(path string, o Options) (string, error) {
	dir := filepath.Dir(path)
	for { // the directory may not be made yet: ask about the first that is
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	kind := o.network(dir)
	if kind == "" {
		return path, nil
	}
	fallback := o.LocalDir
	if fallback == "" {
		fallback = filepath.Join(os.TempDir(), fmt.Sprintf("ctxls-%d", os.Getuid()))
	}
	if err := private(fallback); err != nil {
		return "", err
	}
	// Two states kept on the network stay two.
	sum := fnv.New32a()
	sum.Write([]byte(path))
	moved := filepath.Join(fallback, fmt.Sprintf("state-%08x.db", sum.Sum32()))
	o.Report(fmt.Sprintf("the state's place is on a network file system (%s), which cannot hold it safely: using %s on this machine instead", kind, moved))
	return moved, nil
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
		return core.Errorf(core.CodeUnavailable, "the local directory for the state is not a directory of this user: name a file on this machine with store.path")
	}
	if info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

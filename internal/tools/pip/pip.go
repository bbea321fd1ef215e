// Package pip installs packages of the Python registry that benchmarks run for real: pinned, and outside the tree.
package pip

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Install installs what a requirements file says into a directory of the cache that goes by name, unless it is there, and
// returns the directory: the value for PYTHONPATH. What the packages require is not installed. It needs python3 with pip.
func Install(name, requirements string) (dir string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	want, err := os.ReadFile(requirements)
	if err != nil {
		return "", err
	}
	dir = filepath.Join(cache, "ctxls-dev", name)
	done := filepath.Join(dir, "installed.txt")
	if have, err := os.ReadFile(done); err == nil && string(have) == string(want) {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	pip := exec.Command("python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--target", dir, "-r", requirements)
	if out, err := pip.CombinedOutput(); err != nil {
		return "", fmt.Errorf("pip install: %w\n%s", err, out)
	}
	return dir, os.WriteFile(done, want, 0o644)
}

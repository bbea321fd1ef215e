// Package npm installs programs of the npm registry that tests and benchmarks run for real: pinned, checked by the hashes of a lock
// file, and outside the tree.
package npm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Install installs what package.json and package-lock.json in the directory from say into a directory of the cache that goes by
// name, unless it is there, and returns its node_modules. Scripts of packages are not run.
func Install(name, from string) (modules string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	lock, err := os.ReadFile(filepath.Join(from, "package-lock.json"))
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "ctxls-dev", name)
	modules = filepath.Join(dir, "node_modules")
	done := filepath.Join(dir, "installed.json")
	if have, err := os.ReadFile(done); err == nil && string(have) == string(lock) {
		return modules, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for _, file := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(from, file))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o644); err != nil {
			return "", err
		}
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return modules, os.WriteFile(done, lock, 0o644)
}

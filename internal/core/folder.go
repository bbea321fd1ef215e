package core

import (
	"path"
	"runtime"
	"slices"
	"strings"
)

// InFolders reports whether the directory cwd is one of the folders or lies below one, as this system spells paths.
func InFolders(folders []string, cwd string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return Within(folder, cwd, runtime.GOOS == "windows") })
}

// Within reports whether the directory cwd is folder or lies below it. Paths are compared by name alone. windows says that
// both kinds of separators count and case does not.
func Within(folder, cwd string, windows bool) bool {
	if folder == "" || cwd == "" {
		return false
	}
	plain := func(p string) string {
		if windows {
			p = strings.ToLower(strings.ReplaceAll(p, `\`, "/"))
		}
		return strings.TrimSuffix(path.Clean(p), "/")
	}
	folder, cwd = plain(folder), plain(cwd)
	return cwd == folder || strings.HasPrefix(cwd, folder+"/")
}

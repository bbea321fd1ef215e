package sqlite

import (
	"path"
	"strings"
)

// within reports whether the directory cwd is folder or lies below it. Paths are compared by name alone. windows says that
// both kinds of separators count and case does not.
func within(folder, cwd string, windows bool) bool {
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

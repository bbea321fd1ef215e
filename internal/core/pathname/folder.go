package pathname

import (
	"runtime"
	"slices"
)

// InFolders reports whether the directory cwd is one of the folders or lies below one, as this system spells paths.
func InFolders(folders []string, cwd string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return Within(folder, cwd, OnWindows) })
}

// onWindows is the one place in this package that asks for the system; what is worked out by it takes it as an argument.
const OnWindows = runtime.GOOS == "windows"

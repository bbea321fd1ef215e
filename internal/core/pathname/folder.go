package pathname

import (
	"runtime"
	"slices"
)

// InFolders reports whether the directory cwd is one of the folders or below one, on this system.
func InFolders(folders []string, cwd string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return Within(folder, cwd, OnWindows) })
}

// onWindows is the only place in this package that asks for the system. Other functions get it as an argument.
const OnWindows = runtime.GOOS == "windows"

package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ctxls/ctxls/internal/core/pathname"
)

// workspaceName is the name of a workspace's file.
const workspaceName = ".ctxls.json"

// UserFile returns the path of the user's file under the operating system goos (a GOOS name), or "" if it is unknown. If
// $XDG_CONFIG_HOME is an absolute path, it is $XDG_CONFIG_HOME/ctxls/config.json; the XDG base directory specification
// ignores relative paths. Otherwise the directory is %AppData% on Windows, ~/Library/Application Support on macOS, and
// ~/.config on other systems.
func UserFile(goos string, getenv func(string) string, home string) string {
	slash := "/"
	if goos == "windows" {
		slash = `\`
	}
	var parts []string
	switch appData := getenv("AppData"); {
	case isAbs(goos, getenv("XDG_CONFIG_HOME")):
		parts = []string{getenv("XDG_CONFIG_HOME")}
	case goos == "windows" && isAbs(goos, appData):
		parts = []string{appData}
	case !isAbs(goos, home):
		return ""
	case goos == "windows":
		parts = []string{home, "AppData", "Roaming"}
	case goos == "darwin":
		parts = []string{home, "Library", "Application Support"}
	default:
		parts = []string{home, ".config"}
	}
	parts[0] = strings.TrimRight(parts[0], "/"+slash)
	return strings.Join(append(parts, "ctxls", "config.json"), slash)
}

// isAbs reports whether path is absolute under goos. The functions of path/filepath support only the system of the
// build.
func isAbs(goos, path string) bool {
	if goos == "windows" {
		return pathname.IsWindowsPath(path)
	}
	return strings.HasPrefix(path, "/")
}

// WorkspaceFile returns the .ctxls.json that counts for the directory cwd, or "": the nearest one in cwd and the
// directories above it, up to the first that holds .git (the root of the repository, which is looked in), and never above home or
// the root of the file system. The file need not be readable. There is none for a cwd that is not absolute.
func WorkspaceFile(cwd, home string) string {
	for _, dir := range upTo(cwd, home, runtime.GOOS == "windows") {
		if file := filepath.Join(dir, workspaceName); exists(file) {
			return file
		}
		if exists(filepath.Join(dir, ".git")) {
			return ""
		}
	}
	return ""
}

// upTo returns the directory cwd and its parents, up to home or the root. On Windows, the root of a server's share is the
// share itself, since a lookup above it would use the network. For a relative cwd it returns none.
func upTo(cwd, home string, windows bool) (dirs []string) {
	cwd = pathname.Native(cwd, windows)
	if windows && !pathname.IsWindowsPath(cwd) || !pathname.IsAbsolute(cwd) {
		return nil
	}
	for dir := pathname.Slashed(cwd, windows); ; dir = pathname.Parent(dir, windows) {
		dirs = append(dirs, pathname.Native(dir, windows))
		if pathname.SamePath(dir, home, windows) || dir == pathname.Parent(dir, windows) {
			return dirs
		}
	}
}

// File is a possible place of settings.
type File struct {
	Layer string // user or workspace
	Path  string
	Found bool // Path exists, though it may be unreadable
}

// Files returns the files in use for s, in the order of the layers: the user's file if its path is known, and the
// workspace's file if it exists.
func Files(s Sources) []File {
	var files []File
	if s.UserFile != "" {
		files = append(files, File{"user", s.UserFile, exists(s.UserFile)})
	}
	if path := WorkspaceFile(s.CWD, s.Home); path != "" {
		files = append(files, File{"workspace", path, true})
	}
	return files
}

// isWorkspaceFile reports whether path has the name of a workspace's file.
func isWorkspaceFile(path string) bool { return filepath.Base(path) == workspaceName }

// exists reports whether path exists, even as a dangling symbolic link.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

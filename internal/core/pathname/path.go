package pathname

import (
	"path"
	"strings"
)

// A Windows path has many spellings: C:\x in programs, c:/x by users, \\?\C:\x for long paths, /c/x in Git Bash, /cygdrive/c/x in
// Cygwin, /mnt/c/x in WSL, and //server/share in all of them. The functions of path/filepath know only the system that they were built
// for. The functions of this file get the system as an argument.

// Slashed returns a path in the spelling for comparisons: cleaned, with forward slashes, and without a slash at the end except for a
// root. With windows, drives are in upper case ("C:/x") and all of the above spellings are known. A path relative to a drive ("C:x")
// stays so. "" stays "".
func Slashed(p string, windows bool) string {
	if p == "" {
		return ""
	}
	if !windows {
		return path.Clean(p)
	}
	volume, rest := splitVolume(p)
	if rest == "" {
		return volume
	}
	return volume + path.Clean(rest)
}

// Native returns a path in this system's spelling: on Windows Slashed with backslashes, elsewhere the path itself.
func Native(p string, windows bool) string {
	if !windows {
		return p
	}
	return strings.ReplaceAll(Slashed(p, true), "/", `\`)
}

// Within reports whether the directory cwd is folder or below it. It compares only the names; on Windows case does not count.
func Within(folder, cwd string, windows bool) bool {
	if folder == "" || cwd == "" {
		return false
	}
	if SamePath(folder, cwd, windows) {
		return true
	}
	_, inside := RelativeTo(Slashed(cwd, windows), Slashed(folder, windows), windows)
	return inside
}

// SamePath reports whether two spellings name the same path.
func SamePath(a, b string, windows bool) bool {
	a, b = Slashed(a, windows), Slashed(b, windows)
	return a == b || windows && strings.EqualFold(a, b)
}

// Parent returns the directory of a path, slashed; a root is its own parent.
func Parent(p string, windows bool) string {
	volume, rest := "", p
	if windows {
		volume, rest = splitVolume(p)
	}
	if rest == "" {
		return volume
	}
	return volume + path.Dir(path.Clean(rest))
}

// Join returns p seen from the directory cwd. If cwd is a Windows path, the result is native there; otherwise both are POSIX paths. It
// returns p unchanged if the result is unknown: for a path on another drive's current directory, or if cwd is not absolute.
func Join(cwd, p string) string {
	if !IsWindowsPath(cwd) {
		if p == "" || IsAbsolute(p) || !strings.HasPrefix(cwd, "/") {
			return p
		}
		return path.Join(cwd, p)
	}
	at, _ := splitVolume(cwd)
	volume, rest := splitVolume(p)
	switch {
	case p == "" || IsWindowsPath(p):
		return p
	case volume != "" && strings.HasPrefix(rest, "/"): // /c/x
		return Native(p, true)
	case strings.HasPrefix(p, "/"): // the shell maps /tmp
		return p
	case volume != "" && !strings.EqualFold(volume, at):
		return p
	case strings.HasPrefix(rest, "/"): // \x
		return Native(at+rest, true)
	}
	return Native(cwd+"/"+rest, true)
}

// IsAbsolute knows the forms of every system, since a payload may come from another one.
func IsAbsolute(p string) bool { return strings.HasPrefix(p, "/") || IsWindowsPath(p) }

// IsWindowsPath reports whether a path is absolute in a form that only Windows has.
func IsWindowsPath(p string) bool {
	return hasDrive(p) && len(p) > 2 && (p[2] == '\\' || p[2] == '/') || strings.HasPrefix(p, `\\`)
}

func hasDrive(p string) bool { return len(p) > 1 && p[1] == ':' && isLetter(p[0]) }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// splitVolume splits a slashed Windows path into "C:" or "//server/share" and the rest. The rest of an absolute path begins with a
// slash. On a server, it is always absolute.
func splitVolume(p string) (volume, rest string) {
	p = strings.ReplaceAll(p, `\`, "/")
	if long, ok := strings.CutPrefix(p, "//?/"); ok {
		if p = long; len(long) >= 4 && strings.EqualFold(long[:4], "UNC/") {
			p = "//" + long[4:]
		}
	}
	for _, root := range []string{"/", "/mnt/", "/cygdrive/"} { // where shells put the drives
		if in, ok := strings.CutPrefix(p, root); ok && in != "" && isLetter(in[0]) && (len(in) == 1 || in[1] == '/') {
			p = in[:1] + ":/" + strings.TrimPrefix(in[1:], "/")
			break
		}
	}
	if hasDrive(p) {
		return strings.ToUpper(p[:1]) + ":", p[2:]
	}
	server, ok := strings.CutPrefix(p, "//")
	if !ok || strings.HasPrefix(server, "/") {
		return "", p
	}
	name, share, _ := strings.Cut(server, "/")
	share, rest, _ = strings.Cut(strings.TrimLeft(share, "/"), "/")
	return strings.TrimSuffix("//"+name+"/"+share, "/"), "/" + rest
}

// relativeTo returns a slashed path relative to a slashed directory above it.
func RelativeTo(p, dir string, windows bool) (string, bool) {
	if dir == "" || dir == "." || p == dir {
		return "", false
	}
	if !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	if len(p) <= len(dir) {
		return "", false
	}
	if head := p[:len(dir)]; head != dir && !(windows && strings.EqualFold(head, dir)) {
		return "", false
	}
	return p[len(dir):], true
}

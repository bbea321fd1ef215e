package pathname

import (
	"path"
	"strings"
)

// One Windows path is spelled in many ways: C:\x by programs, c:/x by people, \\?\C:\x by what expects long paths, /c/x by Git Bash,
// /cygdrive/c/x by Cygwin, /mnt/c/x by WSL, //server/share by any of them. The functions of path/filepath know none of this, and
// only the system that they were built for; those of this file are told which it is.

// Slashed returns a path in the one spelling by which paths are compared: cleaned, with forward slashes, nothing at the end but the
// slash of a root. windows says how it is meant; then drives are in upper case ("C:/x") and all of the above are known. A path
// relative to a drive ("C:x") stays that. "" stays "".
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

// Native returns a path as programs of this system spell it: on Windows Slashed with backslashes, elsewhere the path as it is.
func Native(p string, windows bool) string {
	if !windows {
		return p
	}
	return strings.ReplaceAll(Slashed(p, true), "/", `\`)
}

// Within reports whether the directory cwd is folder or lies below it. Paths are compared by name alone; on Windows case does not
// count.
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

// SamePath reports whether two paths are spelled for the same place.
func SamePath(a, b string, windows bool) bool {
	a, b = Slashed(a, windows), Slashed(b, windows)
	return a == b || windows && strings.EqualFold(a, b)
}

// Parent returns the directory that a path lies in, slashed; a root lies in itself.
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

// Join returns p as seen from the directory cwd. Where cwd is a Windows path the result is native there; otherwise both are taken
// for POSIX paths. What cannot be known is returned as it is: a path on another drive's current directory, one from a cwd that is
// not absolute.
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
	case strings.HasPrefix(p, "/"): // /tmp is a place that the shell knows
		return p
	case volume != "" && !strings.EqualFold(volume, at):
		return p
	case strings.HasPrefix(rest, "/"): // \x
		return Native(at+rest, true)
	}
	return Native(cwd+"/"+rest, true)
}

// IsAbsolute knows the forms of every system: a payload may come from another than this one.
func IsAbsolute(p string) bool { return strings.HasPrefix(p, "/") || IsWindowsPath(p) }

// IsWindowsPath reports whether a path is an absolute one that only Windows has.
func IsWindowsPath(p string) bool {
	return hasDrive(p) && len(p) > 2 && (p[2] == '\\' || p[2] == '/') || strings.HasPrefix(p, `\\`)
}

func hasDrive(p string) bool { return len(p) > 1 && p[1] == ':' && isLetter(p[0]) }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// splitVolume parts a Windows path, slashed, into "C:" or "//server/share" and the rest, which begins with a slash where the path
// is absolute. A volume of a server has no other rest than an absolute one.
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

// relativeTo returns a slashed path as seen from a slashed directory that it lies in.
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

package core

import (
	"net/url"
	"runtime"
	"strings"
)

// PathOfURI returns the path that a file URI names on this system. Anything else is CodeInvalid.
func PathOfURI(uri string) (string, error) { return pathOfURI(uri, runtime.GOOS == "windows") }

// pathOfURI returns the path that a file URI names (RFC 8089), with the separators of Windows or of everything else.
// Editors spell one Windows path in several ways: file:///c:/x, file:///C%3A/x, file://server/share. The drive letter
// comes out in upper case, so that they are equal.
func pathOfURI(uri string, windows bool) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || !strings.EqualFold(u.Scheme, "file") || u.Opaque != "" || u.Path == "" {
		return "", Errorf(CodeInvalid, "expected a file URI like file:///home/me/project, got %q", Sanitize(uri, 200))
	}
	host := u.Host
	if strings.EqualFold(host, "localhost") {
		host = ""
	}
	if !windows {
		if host != "" {
			return "", Errorf(CodeInvalid, "expected a file URI of this machine, got one of %q", Sanitize(host, 200))
		}
		return cleanSlashes(u.Path), nil
	}
	path := strings.ReplaceAll(cleanSlashes(u.Path), "/", `\`)
	if host != "" {
		return `\\` + host + path, nil
	}
	if drive := strings.TrimPrefix(path, `\`); len(drive) >= 2 && drive[1] == ':' {
		path = strings.ToUpper(drive[:1]) + drive[1:]
		if len(path) == 2 {
			path += `\`
		}
	}
	return path, nil
}

// cleanSlashes drops the slash that some clients leave at the end of a folder.
func cleanSlashes(path string) string {
	if trimmed := strings.TrimRight(path, "/"); trimmed != "" {
		return trimmed
	}
	return "/"
}

package pathname

import (
	"net/url"
	"strings"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/text"
)

// PathOfURI returns the path of a file URI on this system. For anything else it returns an error with coded.Invalid.
func OfURI(uri string) (string, error) { return pathOfURI(uri, OnWindows) }

// PathOfAnyURI returns the path of a file URI on the system whose form it has: a drive or a server means Windows.
func OfAnyURI(uri string) (string, error) {
	place, err := parseFileURI(uri)
	if err != nil {
		return "", err
	}
	return pathOfURI(uri, place.host != "" || hasDrive(strings.TrimPrefix(place.path, "/")))
}

// pathOfURI returns the path of a file URI (RFC 8089), with the separators of Windows or of other systems. Editors spell one Windows
// path in several ways: file:///c:/x, file:///C%3A/x, file://server/share. The results are equal.
func pathOfURI(uri string, windows bool) (string, error) {
	place, err := parseFileURI(uri)
	switch {
	case err != nil:
		return "", err
	case !windows && place.host != "":
		return "", coded.Errorf(coded.Invalid, "expected a file URI of this machine, got one of %q", text.Sanitize(place.host, 200))
	case !windows:
		return cleanSlashes(place.path), nil
	case place.host != "":
		return Native("//"+place.host+cleanSlashes(place.path), true), nil
	}
	p := place.path
	if drive := strings.TrimPrefix(p, "/"); hasDrive(drive) {
		p = drive[:2] + "/" + strings.TrimLeft(drive[2:], "/")
	}
	return Native(p, true), nil
}

// place is the content of a file URI: a path with forward slashes, on this machine if host is "".
type place struct{ host, path string }

func parseFileURI(uri string) (place, error) {
	wrong := coded.Errorf(coded.Invalid, "expected a file URI like file:///home/me/project, got %q", text.Sanitize(uri, 200))
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || !strings.EqualFold(scheme, "file") {
		return place{}, wrong
	}
	host := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok { // not by url.Parse, which rejects the host wsl%24
		slash := strings.IndexByte(after, '/')
		if slash < 0 {
			return place{}, wrong
		}
		host, rest = after[:slash], after[slash:]
		if len(host) == 2 && hasDrive(host) { // file://C:/x, as clients make of a path without its first slash
			host, rest = "", "/"+after
		}
	}
	u, err := url.Parse("file://" + rest)
	if err != nil || !strings.HasPrefix(rest, "/") {
		return place{}, wrong
	}
	if host, err = url.PathUnescape(host); err != nil || strings.ContainsAny(host, `/\`) {
		return place{}, wrong
	}
	if strings.EqualFold(host, "localhost") {
		host = ""
	}
	return place{host, u.Path}, nil
}

// cleanSlashes removes the slash that some clients write at the end of a folder.
func cleanSlashes(path string) string {
	if trimmed := strings.TrimRight(path, "/"); trimmed != "" {
		return trimmed
	}
	return "/"
}

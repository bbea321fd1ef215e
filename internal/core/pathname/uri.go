package pathname

import (
	"net/url"
	"strings"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/text"
)

// PathOfURI returns the path that a file URI names on this system. Anything else is CodeInvalid.
func OfURI(uri string) (string, error) { return pathOfURI(uri, OnWindows) }

// PathOfAnyURI returns the path that a file URI names on the system whose form it has: a drive or a server is Windows.
func OfAnyURI(uri string) (string, error) {
	place, err := parseFileURI(uri)
	if err != nil {
		return "", err
	}
	return pathOfURI(uri, place.host != "" || hasDrive(strings.TrimPrefix(place.path, "/")))
}

// pathOfURI returns the path that a file URI names (RFC 8089), with the separators of Windows or of everything else.
// Editors spell one Windows path in several ways: file:///c:/x, file:///C%3A/x, file://server/share. They come out equal.
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

// place is what a file URI names: a path with forward slashes, on this machine where host is "".
type place struct{ host, path string }

func parseFileURI(uri string) (place, error) {
	wrong := coded.Errorf(coded.Invalid, "expected a file URI like file:///home/me/project, got %q", text.Sanitize(uri, 200))
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || !strings.EqualFold(scheme, "file") {
		return place{}, wrong
	}
	host := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok { // not left to url.Parse, which takes no wsl%24 for a host
		slash := strings.IndexByte(after, '/')
		if slash < 0 {
			return place{}, wrong
		}
		host, rest = after[:slash], after[slash:]
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

// cleanSlashes drops the slash that some clients leave at the end of a folder.
func cleanSlashes(path string) string {
	if trimmed := strings.TrimRight(path, "/"); trimmed != "" {
		return trimmed
	}
	return "/"
}

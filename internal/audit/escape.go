package audit

import "net/url"

// escaped escapes a slashed path for a URI.
func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// Package store opens the state that every ctxls process shares, whatever engine keeps it.
package store

import (
	"context"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/store/sqlite"
)

// Options say how to open a store.
type Options struct {
	// URL names the store: a path, or "sqlite:" and a path. The path is taken as it stands, without escapes. It must not be
	// empty; DefaultPath gives the usual one.
	URL string
	// BusyTimeout is how long to wait for other processes before giving up with CodeUnavailable; 0 is 5 s. A hook, whose
	// host waits for it, should wait less.
	BusyTimeout time.Duration
	// Fleeting says that the process ends right after Close, which then leaves to that end what it can.
	Fleeting bool
	// LocalDir is used in place of the path's directory when that lies on a network file system; "" is a directory of the
	// user's own in the system's place for temporary files.
	LocalDir string
	// Usual says that URL names the place where a user's state always is: a file there that is no database is moved aside as a
	// damaged state. Anywhere else it is left alone, and opening it is an error with CodeInvalid.
	Usual bool
	// MustExist makes it an error with CodeNotFound that there is no such store yet; nothing is made then.
	MustExist bool
	// Report is told, in a sentence for people, of what was done about a damaged file or a remote place; nil tells nobody.
	Report func(string)
}

// Open opens the store that o names. Its errors carry CodeInvalid when there can be no such store, and CodeUnavailable
// when it cannot be used now.
func Open(ctx context.Context, o Options) (core.Store, error) {
	path, err := pathOf(o.URL)
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, sqlite.Options{Path: path, BusyTimeout: o.BusyTimeout, Fleeting: o.Fleeting, LocalDir: o.LocalDir,
		Usual: o.Usual, MustExist: o.MustExist, Report: o.Report})
	if err != nil {
		return nil, err // not s: a nil *sqlite.Store in a core.Store would not be nil
	}
	return s, nil
}

// Engine is what keeps the state, for people.
const Engine = "SQLite"

// Inspection is what a look at a store found that changed nothing of it.
type Inspection = sqlite.Inspection

// Inspect looks at the store that a URL names, as of Options with Usual, and changes nothing. That there is no such store is no error of
// its own: Inspection says it.
func Inspect(ctx context.Context, url string, usual bool) Inspection {
	path, err := pathOf(url)
	if err != nil {
		return Inspection{Path: url, FreeBytes: -1, Unreadable: err}
	}
	return sqlite.Inspect(ctx, path, usual)
}

// pathOf returns the path that a URL names.
func pathOf(url string) (string, error) {
	path := url
	if s := scheme(path); s != "" {
		if !strings.EqualFold(s, "sqlite:") {
			return "", coded.Errorf(coded.Invalid, "the store %q is of an unknown kind: want a path or sqlite:PATH", url)
		}
		path = path[len(s):]
		if strings.HasPrefix(path, "//") { // sqlite:///home/… spells an absolute path, too
			path = path[len("//"):]
			if !strings.HasPrefix(path, "/") {
				return "", coded.Errorf(coded.Invalid, "the store %q names a machine: want sqlite:PATH or sqlite:///PATH", url)
			}
		}
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return "", coded.Errorf(coded.Invalid, "the store %q names no file: want a path or sqlite:PATH", url)
	}
	return path, nil
}

// DefaultPath returns where the state is kept on an operating system, named as by runtime.GOOS, where nobody says
// otherwise: in $XDG_STATE_HOME where that is an absolute path, else in the system's own place for such files. getenv
// reads the environment and home is the user's home directory.
func DefaultPath(goos string, getenv func(string) string, home string) string {
	if goos == "windows" {
		base := getenv("LOCALAPPDATA")
		if base == "" {
			base = home + `\AppData\Local`
		}
		return base + `\ctxls\state.db`
	}
	base := getenv("XDG_STATE_HOME")
	switch {
	case strings.HasPrefix(base, "/"): // the XDG base directory specification: a relative one is to be ignored
		base = strings.TrimRight(base, "/")
	case goos == "darwin":
		base = home + "/Library/Application Support"
	default:
		base = home + "/.local/state"
	}
	return base + "/ctxls/state.db"
}

// scheme returns the scheme of a URL with its colon, "" where a path has none. One letter is a drive of Windows.
func scheme(path string) string {
	i := strings.IndexByte(path, ':')
	if i < 2 {
		return ""
	}
	for j, c := range []byte(path[:i]) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (j == 0 || !('0' <= c && c <= '9' || c == '+' || c == '.' || c == '-')) {
			return ""
		}
	}
	return path[:i+1]
}

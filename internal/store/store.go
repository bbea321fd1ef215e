// Package store opens the state that all ctxls processes share, with any engine.
package store

import (
	"context"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/store/sqlite"
)

// Options say how to open a store.
type Options struct {
	// URL names the store: a path, or "sqlite:" and a path. The path is used as it is, without escapes. It must not be empty;
	// DefaultPath returns the default.
	URL string
	// BusyTimeout is the time to wait for other processes before an error with coded.Unavailable; 0 is 5 s. A hook should wait less,
	// since its host waits for it.
	BusyTimeout time.Duration
	// Fleeting says that the process ends right after Close. Close then leaves all possible work to that end.
	Fleeting bool
	// LocalDir replaces the path's directory if that is on a network file system; "" is a directory of the user below the system's
	// directory for temporary files.
	LocalDir string
	// Usual says that URL is the default place of a user's state: a file there that is no database is moved aside as a damaged state.
	// Elsewhere it is left alone, and opening it is an error with coded.Invalid.
	Usual bool
	// MustExist says that a missing store is an error with coded.NotFound, and that none is made.
	MustExist bool
	// Report gets a sentence for users about a damaged file or a network file system that was handled; it may be nil.
	Report func(string)
}

// Open opens the store that o names. Its errors have coded.Invalid if there can be no such store, and coded.Unavailable if it cannot be
// used now.
func Open(ctx context.Context, o Options) (core.Store, error) {
	return open(ctx, o, sqlite.Open)
}

// OpenCopy opens a temporary copy of the store that o names, for a process that only reads where Open's error is Unwritable. Close removes
// the copy. Its errors are those of Open.
func OpenCopy(ctx context.Context, o Options) (core.Store, error) {
	return open(ctx, o, sqlite.OpenCopy)
}

// Unwritable reports whether an error of Open says that the place of the store cannot be written.
func Unwritable(err error) bool { return sqlite.Unwritable(err) }

func open(ctx context.Context, o Options, with func(context.Context, sqlite.Options) (*sqlite.Store, error)) (core.Store, error) {
	path, err := pathOf(o.URL)
	if err != nil {
		return nil, err
	}
	s, err := with(ctx, sqlite.Options{Path: path, BusyTimeout: o.BusyTimeout, Fleeting: o.Fleeting, LocalDir: o.LocalDir,
		Usual: o.Usual, MustExist: o.MustExist, Report: o.Report})
	if err != nil {
		return nil, err // not s: a nil *sqlite.Store in a core.Store would not be nil
	}
	return s, nil
}

// Engine is the name of the engine, for users.
const Engine = "SQLite"

// Inspection is the result of reading a store without changing it.
type Inspection = sqlite.Inspection

// Inspect reads the store at a URL, with Options.Usual, and changes nothing. A missing store is no error; Inspection says so.
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
			if drive := strings.TrimPrefix(path, "/"); pathname.IsWindowsPath(drive) { // sqlite:///C:/…, and what people make of it
				path = drive
			} else if !strings.HasPrefix(path, "/") {
				return "", coded.Errorf(coded.Invalid, "the store %q names a machine: want sqlite:PATH or sqlite:///PATH", url)
			}
		}
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return "", coded.Errorf(coded.Invalid, "the store %q names no file: want a path or sqlite:PATH", url)
	}
	return path, nil
}

// DefaultPath returns the default path of the state on an operating system, which is a value of runtime.GOOS. It is in $XDG_STATE_HOME
// if that is an absolute path, else in the system's directory for such files. getenv reads the environment, and home is the user's home
// directory.
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
	case strings.HasPrefix(base, "/"): // the XDG base directory specification says to ignore a relative path
		base = strings.TrimRight(base, "/")
	case goos == "darwin":
		base = home + "/Library/Application Support"
	default:
		base = home + "/.local/state"
	}
	return base + "/ctxls/state.db"
}

// scheme returns the scheme of a URL with its colon, "" if a path has none. A single letter is a Windows drive.
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

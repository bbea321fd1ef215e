package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/pathname"
)

func TestOpenByURL(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for url, want := range map[string]string{
		filepath.Join(dir, "plain.db"):                         "plain.db",
		"relative.db":                                          "relative.db",
		"sqlite:relative too.db":                               "relative too.db",
		"sqlite:" + filepath.Join(dir, "url.db"):               "url.db",
		"SQLite://" + filepath.ToSlash(dir) + "/three.db":      "three.db",
		filepath.Join(dir, "made", "on", "the", "way", "s.db"): "made/on/the/way/s.db",
		"./kind:of.db":                                         "kind:of.db",
	} {
		if pathname.OnWindows && strings.Contains(want, ":") { // a stream of the file
			continue
		}
		s, err := Open(t.Context(), Options{URL: url})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		defer s.Close()
		if _, err := os.Stat(filepath.Join(dir, want)); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// The rest of the URL after the scheme is a path of any system, without changes.
func TestPathsOfURLs(t *testing.T) {
	for url, want := range map[string]string{
		"sqlite:/home/me/as it is%20?x=1#y.db": "/home/me/as it is%20?x=1#y.db",
		"sqlite:///home/me/s.db":               "/home/me/s.db",
		"SQLite://C:/Users/me/s.db":            "C:/Users/me/s.db",
		"sqlite:///C:/Users/me/s.db":           "C:/Users/me/s.db",
		`sqlite:C:\Users\me\s.db`:              `C:\Users\me\s.db`,
		`C:\Users\me\s.db`:                     `C:\Users\me\s.db`,
		`sqlite:\\server\share\s.db`:           `\\server\share\s.db`,
	} {
		if got, err := pathOf(url); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", url, got, err, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for url, want := range map[string]string{
		"":                         "names no file",
		"sqlite:":                  "names no file",
		"a\x00b":                   "names no file",
		"postgres://localhost/db":  "of an unknown kind: want a path or sqlite:PATH",
		"file:/tmp/x.db":           "of an unknown kind",
		"sqlite://server/state.db": "names a machine",
	} {
		s, err := Open(t.Context(), Options{URL: url})
		if coded.CodeOf(err) != coded.Invalid || !strings.Contains(err.Error(), want) || s != nil {
			t.Errorf("%q: %v, %v", url, s, err)
		}
	}
	if s, err := Open(t.Context(), Options{URL: t.TempDir()}); coded.CodeOf(err) != coded.Unavailable || s != nil {
		t.Errorf("a directory: %v, %v", s, err)
	}
}

func TestDefaultPath(t *testing.T) {
	for _, test := range []struct {
		goos, home string
		env        map[string]string
		want       string
	}{
		{"linux", "/home/ada", nil, "/home/ada/.local/state/ctxls/state.db"},
		{"linux", "/home/ada", map[string]string{"XDG_STATE_HOME": "/var/ada"}, "/var/ada/ctxls/state.db"},
		{"linux", "/home/ada", map[string]string{"XDG_STATE_HOME": "/var/ada/"}, "/var/ada/ctxls/state.db"},
		{"linux", "/home/ada", map[string]string{"XDG_STATE_HOME": "relative"}, "/home/ada/.local/state/ctxls/state.db"},
		{"freebsd", "/home/ada", nil, "/home/ada/.local/state/ctxls/state.db"},
		{"darwin", "/Users/ada", nil, "/Users/ada/Library/Application Support/ctxls/state.db"},
		{"darwin", "/Users/ada", map[string]string{"XDG_STATE_HOME": "/Users/ada/state"}, "/Users/ada/state/ctxls/state.db"},
		{"windows", `C:\Users\ada`, map[string]string{"LOCALAPPDATA": `D:\Local`, "XDG_STATE_HOME": "/x"}, `D:\Local\ctxls\state.db`},
		{"windows", `C:\Users\ada`, nil, `C:\Users\ada\AppData\Local\ctxls\state.db`},
	} {
		getenv := func(name string) string { return test.env[name] }
		if got := DefaultPath(test.goos, getenv, test.home); got != test.want {
			t.Errorf("%s %v\n got %s\nwant %s", test.goos, test.env, got, test.want)
		}
	}
}

package sqlite

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
)

func TestFileURI(t *testing.T) {
	for _, test := range []struct {
		path    string
		windows bool
		want    string
	}{
		{"/home/ada/state.db", false, "file:///home/ada/state.db"},
		{"/a b/50%/what?/#1/x&y=z;+", false, "file:///a%20b/50%25/what%3F/%231/x&y=z;+"},
		{`/back\slash`, false, `file:///back%5Cslash`},
		{"/caf\u00e9/\xff", false, "file:///caf%C3%A9/%FF"},
		{`C:\Users\Ada Lovelace\#1\state.db`, true, "file:///C:/Users/Ada%20Lovelace/%231/state.db"},
		{`\\server\share\state.db`, true, "file:////server/share/state.db"},
	} {
		if got := fileURI(test.path, test.windows); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.path, got, test.want)
		}
	}
}

func TestTheDatabaseIsWhereItsPathSays(t *testing.T) {
	names := []string{"a b", "50%41", "#1", "a&b=c;d", "caf\u00e9", "'", "\u202e"}
	if runtime.GOOS != "windows" { // whose file names cannot have such characters
		names = append(names, "what?mode=memory", "x?_busy_timeout=0#y", `"`)
	}
	for _, name := range names {
		dir := filepath.Join(t.TempDir(), name)
		s := open(t, filepath.Join(dir, name+".db"))
		if err := s.Update(t.Context(), core.Query{}, func(session.State) session.Changes {
			return session.Changes{Trim: &fleet.TrimCount{Operations: 1}}
		}); err != nil {
			t.Fatal(err)
		}
		for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
			if _, err := os.Stat(filepath.Join(dir, name+".db"+suffix)); err != nil {
				t.Error(err)
			}
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 4 {
			t.Errorf("%q: %v %v", name, entries, err)
		}
	}
}

func TestARelativePathStaysWhereItWasOpened(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	s := open(t, "state.db")
	t.Chdir(t.TempDir())
	if _, err := s.Fleet(t.Context(), 0); err != nil || s.Path() != filepath.Join(dir, "state.db") {
		t.Errorf("%s: %v", s.Path(), err)
	}
}

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	setUmask(t, 0)
	base := t.TempDir()
	path := filepath.Join(base, "a", "b", "state.db")
	s := open(t, path)
	if err := hookEvent(t.Context(), s, 1); err != nil {
		t.Fatal(err)
	}
	modes := func() (got string) {
		filepath.WalkDir(filepath.Join(base, "a"), func(path string, entry fs.DirEntry, _ error) error {
			info, err := entry.Info()
			if err != nil {
				t.Fatal(err)
			}
			got += fmt.Sprintf("%s %v\n", entry.Name(), info.Mode())
			return nil
		})
		return got
	}
	want := "a drwx------\nb drwx------\nstate.db -rw-------\nstate.db-shm -rw-------\nstate.db-wal -rw-------\nstate.db.lock -rw-------\n"
	if got := modes(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}

	s.Close()
	if err := os.Chmod(path, 0o644); err != nil { // as after a restored backup
		t.Fatal(err)
	}
	s = open(t, path)
	if err := hookEvent(t.Context(), s, 2); err != nil {
		t.Fatal(err)
	}
	if got := modes(); got != want {
		t.Errorf("opened again, got\n%swant\n%s", got, want)
	}
}

func TestANetworkFileSystemIsLeftForALocalPlace(t *testing.T) {
	remote, local := t.TempDir(), filepath.Join(t.TempDir(), "local")
	var reports, asked []string
	options := Options{
		Path: filepath.Join(remote, "not made yet", "state.db"), LocalDir: local,
		Report:  func(what string) { reports = append(reports, what) },
		network: func(dir string) string { asked = append(asked, dir); return "nfs" },
	}
	s, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if filepath.Dir(s.Path()) != local || len(reports) != 1 || !strings.Contains(reports[0], "nfs") {
		t.Errorf("it is at %s; reported %q", s.Path(), reports)
	}
	if len(asked) != 1 || asked[0] != remote {
		t.Errorf("asked about %q, want the nearest directory that is there", asked)
	}
	if entries, _ := os.ReadDir(remote); len(entries) != 0 {
		t.Errorf("left on the network: %v", entries)
	}
	options.Path = filepath.Join(remote, "other.db")
	other, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if other.Path() == s.Path() {
		t.Error("two states came to be one")
	}
	if info, err := os.Stat(local); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("the local directory: %v %v", info.Mode(), err)
	}

	// In a directory that every user may write to, another user may have created the file first.
	options.LocalDir = filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(remote, options.LocalDir); runtime.GOOS == "windows" && err != nil {
		return // links need a privilege there
	} else if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), options); coded.CodeOf(err) != coded.Unavailable {
		t.Errorf("through a link: %v", err)
	}
}

func TestPlacesThatCannotHoldAState(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"a directory":      dir,
		"below a file":     filepath.Join(file, "state.db"),
		"a name too long":  filepath.Join(dir, strings.Repeat("x", 300)),
		"not a plain file": os.DevNull,
	} {
		_, err := Open(t.Context(), Options{Path: path})
		if coded.CodeOf(err) != coded.Unavailable || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v (%s)", name, err, coded.CodeOf(err))
		}
	}
}

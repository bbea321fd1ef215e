package sqlite

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
)

// files describes the files in the directory of the store at path, with their bytes and modification times. It leaves
// out the index of the log, since every concurrent reader registers in it.
func files(t *testing.T, path string) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s %v", entry.Name(), info.Mode())
		if info.Mode().IsRegular() && !strings.HasSuffix(entry.Name(), "-shm") {
			data, err := os.ReadFile(filepath.Join(filepath.Dir(path), entry.Name()))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, " %v %x", info.ModTime(), data)
		}
		all.WriteByte('\n')
	}
	return all.String()
}

// inspected inspects the store at path, and checks that this changed nothing.
func inspected(t *testing.T, path string) Inspection {
	t.Helper()
	before := files(t, path)
	in := Inspect(t.Context(), path, true)
	if after := files(t, path); after != before {
		t.Errorf("the look changed something")
	}
	return in
}

func TestInspect(t *testing.T) {
	path := filled(t)
	in := inspected(t, path)
	if in.Unreadable != nil || len(in.Damage) > 0 || in.Older || len(in.Sessions) == 0 || !in.Exists || !in.Owned || in.Bytes == 0 || in.Unwritable != nil || len(in.Aside) > 0 {
		t.Fatalf("%+v", in)
	}
	want, err := open(t, path).Sessions(t.Context(), core.SessionFilter{IncludeEnded: true})
	if err != nil {
		t.Fatal(err)
	}
	// Now the store is open, and the log contains the newest update.
	if err := hookEvent(t.Context(), open(t, path), 301); err != nil {
		t.Fatal(err)
	}
	if in = inspected(t, path); in.Unreadable != nil || len(in.Damage) > 0 || len(in.Sessions) < len(want) || in.LogBytes == 0 {
		t.Errorf("while it is open: %+v", in)
	}
}

// A file without a log is inspected as it is, and no log is created.
func TestInspectWithoutALog(t *testing.T) {
	path := filled(t)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	os.Remove(path + "-wal")
	os.Remove(path + "-shm")
	if in := inspected(t, path); in.Unreadable != nil || len(in.Damage) > 0 || len(in.Sessions) == 0 {
		t.Errorf("%+v", in)
	}
}

func TestInspectFindsWhatIsWrong(t *testing.T) {
	set := func(pragma string) func(string) {
		return func(path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(pragma); err != nil {
				t.Fatal(err)
			}
		}
	}
	rewrite := func(change func([]byte) []byte) func(string) {
		return func(path string) {
			set("PRAGMA wal_checkpoint(TRUNCATE)")(path)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	damage := func(in Inspection) bool { return len(in.Damage) > 0 && in.Unreadable == nil }
	for name, test := range map[string]struct {
		wrong func(path string)
		found func(Inspection) bool
	}{
		"garbage": {rewrite(func([]byte) []byte { return bytes.Repeat([]byte("not a database "), 1000) }), damage},
		"cut":     {rewrite(func(data []byte) []byte { return data[:len(data)/2] }), damage},
		"a page of noise": {rewrite(func(data []byte) []byte {
			for page := 1; page < len(data)/4096; page++ {
				fillRandom(data[page*4096 : (page+1)*4096])
			}
			return data
		}), damage},
		"a session that is no JSON": {set("UPDATE sessions SET data = 'x'"), damage},
		"an older format":           {set("PRAGMA user_version = 1"), func(in Inspection) bool { return in.Older && in.Unreadable == nil && !damage(in) }},
		"a newer format": {set("PRAGMA user_version = 99"), func(in Inspection) bool {
			return in.Unreadable != nil && strings.Contains(in.Unreadable.Error(), "newer ctxls")
		}},
		"another program's": {set("PRAGMA application_id = 7"), func(in Inspection) bool { return coded.CodeOf(in.Unreadable) == coded.Invalid }},
		"none":              {func(path string) { os.Remove(path) }, func(in Inspection) bool { return !in.Exists && in.Unreadable == nil }},
		"an empty file": {func(path string) {
			os.Remove(path + "-wal")
			os.Truncate(path, 0)
		}, func(in Inspection) bool { return in.Exists && in.Unreadable == nil && !damage(in) }},
		"a directory": {func(path string) {
			os.Remove(path)
			os.Mkdir(path, 0o700)
		}, func(in Inspection) bool { return in.Unreadable != nil }},
		"moved aside before": {func(path string) { os.WriteFile(path+".corrupt-20260101T000000.000Z", nil, 0o600) }, func(in Inspection) bool { return len(in.Aside) == 1 && in.Unreadable == nil }},
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			test.wrong(path)
			if in := inspected(t, path); !test.found(in) {
				t.Errorf("%+v", in)
			}
		})
	}
}

// On a network file system, the state is at the local place that Open uses. Inspecting does not create that place.
func TestInspectOnANetwork(t *testing.T) {
	far, near := filepath.Join(t.TempDir(), "state.db"), filepath.Join(t.TempDir(), "near")
	o := Options{Path: far, LocalDir: near, Report: func(string) {}, network: func(string) string { return "nfs" }}
	in := inspect(t.Context(), far, o)
	if in.Network != "nfs" || filepath.Dir(in.Path) != near || in.Exists || exists(near) {
		t.Errorf("%+v", in)
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if in = inspect(t.Context(), far, o); in.Path != s.Path() || !in.Exists || in.Unreadable != nil {
		t.Errorf("%+v, want what is at %s", in, s.Path())
	}
}

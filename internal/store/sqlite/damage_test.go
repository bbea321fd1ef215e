package sqlite

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
)

// filled makes a store with some content, and closes it.
func filled(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	for i := range 300 {
		if err := hookEvent(t.Context(), s, i); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	return path
}

// aside lists the damaged databases that were moved aside for the store at path.
func aside(t testing.TB, path string) []string {
	t.Helper()
	names, err := filepath.Glob(path + ".corrupt-*")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm") })
}

// reporting opens the store and collects its reports.
func reporting(t testing.TB, path string) (s *Store, reports *[]string) {
	t.Helper()
	reports = new([]string)
	s, err := Open(t.Context(), Options{Path: path, Usual: true, Report: func(what string) { *reports = append(*reports, what) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, reports
}

func TestADamagedFileIsMovedAsideWhenItIsOpened(t *testing.T) {
	for name, damage := range map[string]func(data []byte) []byte{
		"garbage":          func([]byte) []byte { return bytes.Repeat([]byte("not a database "), 1000) },
		"a garbled header": func(data []byte) []byte { copy(data, "garbage garbage garbage"); return data },
		"a short file":     func(data []byte) []byte { return data[:len(data)/2] },
		"part of one page": func(data []byte) []byte { return data[:1000] },
		"a garbled schema": func(data []byte) []byte { fillRandom(data[100:4096]); return data },
		"the tables' list": func(data []byte) []byte {
			return bytes.Replace(data, []byte("CREATE TABLE"), []byte("CREATE TABEL"), 1)
		},
		"a page of no kind":  func(data []byte) []byte { clear(data[100:4096]); return data },
		"a text, by mistake": func([]byte) []byte { return []byte("dear diary") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damaged := damage(data)
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			s, reports := reporting(t, path)
			if err := hookEvent(t.Context(), s, 1); err != nil {
				t.Fatal(err)
			}
			moved := aside(t, path)
			if len(moved) != 1 || len(*reports) != 1 || !strings.Contains((*reports)[0], moved[0]) {
				t.Fatalf("moved %q, reported %q", moved, *reports)
			}
			if kept, err := os.ReadFile(moved[0]); err != nil || !bytes.Equal(kept, damaged) {
				t.Errorf("what was moved aside is not what was there: %v", err)
			}
		})
	}
}

func fillRandom(data []byte) {
	random := rand.NewChaCha8([32]byte{1})
	random.Read(data)
}

// The first read of a damaged page in a large file finds the damage. Opening does not check the whole file.
func TestADamagedPageIsMovedAsideByWhoMeetsIt(t *testing.T) {
	path := filled(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for page := 1; page < len(data)/4096; page++ { // all but the first, which holds the schema
		fillRandom(data[page*4096 : (page+1)*4096])
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, reports := reporting(t, path)
	if len(*reports) != 0 {
		t.Fatalf("found on opening: %q", *reports)
	}
	if err := hookEvent(t.Context(), s, 1); err != nil {
		t.Errorf("an update: %v", err)
	}
	if found, err := s.Sessions(t.Context(), core.SessionFilter{}); err != nil || len(found) != 1 || found[0].Session.Turns != 1 {
		t.Errorf("the fresh state: %v %v", found, err)
	}
	if len(aside(t, path)) != 1 || len(*reports) != 1 {
		t.Errorf("moved %q, reported %q", aside(t, path), *reports)
	}
}

func TestDamageFoundWhileSavingIsNotRetried(t *testing.T) {
	path := filled(t)
	s := open(t, path)
	root := int64(0)
	if err := s.run(t.Context(), false, func(ctx context.Context, c *conn) error {
		_, err := c.row(t.Context(), "SELECT rootpage FROM sqlite_schema WHERE name = 'windows'", nil, &root)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	overwrite(t, path, (root-1)*4096)

	s, reports := reporting(t, path)
	decided := 0
	err := s.Update(t.Context(), core.Query{}, func(session.State) session.Changes {
		decided++
		return session.Changes{Learned: &session.LearnedWindow{Host: session.HostCodex, Model: "m", AcceptedTokens: 1}}
	})
	if coded.CodeOf(err) != coded.Unavailable || decided != 1 {
		t.Errorf("Update: %v after %d decisions", err, decided)
	}
	if len(*reports) != 1 {
		t.Errorf("reported %q", *reports)
	}
	if err := hookEvent(t.Context(), s, 1); err != nil {
		t.Errorf("the next update: %v", err)
	}
}

func TestTextThatIsNotASessionIsDamage(t *testing.T) {
	path := filled(t)
	s, reports := reporting(t, path)
	if err := s.run(t.Context(), true, func(ctx context.Context, c *conn) error {
		return c.exec(t.Context(), "UPDATE sessions SET data = substr(data, 1, 40)")
	}); err != nil {
		t.Fatal(err)
	}
	if err := hookEvent(t.Context(), s, 1); err != nil || len(*reports) != 1 {
		t.Errorf("%v; reported %q", err, *reports)
	}
}

// Whichever process finds the damage, there is one new store, and it has everything that is saved later.
func TestManyProcessesFindTheDamageAtOnce(t *testing.T) {
	const processes = 6
	rounds := repeat(10)
	for round := range rounds {
		path := filled(t)
		if err := os.Truncate(path, 5000+int64(round)); err != nil {
			t.Fatal(err)
		}
		reports := strings.Join(together(t, processes, "open", path), "")
		if strings.Count(reports, "reported: ") != 1 || len(aside(t, path)) != 1 {
			t.Errorf("round %d: moved %q, reported %q", round, aside(t, path), reports)
		}
		fleet, err := open(t, path).Fleet(t.Context(), 0)
		if err != nil || fleet.Trim.Operations != processes {
			t.Errorf("round %d: %d of %d updates are there: %v", round, fleet.Trim.Operations, processes, err)
		}
	}
}

// A process that had the damaged file open opens the new file, and does not touch its log.
func TestOthersFollowToTheFreshFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	server := open(t, path)
	if err := hookEvent(t.Context(), server, 1); err != nil {
		t.Fatal(err)
	}
	// This needs another process: on Windows, SQLite finds a log's index by name among the files of its own process.
	if reports := together(t, 1, "replace", path); !strings.HasPrefix(reports[0], "reported: ") {
		t.Fatalf("reported %q", reports)
	}
	for range 2 {
		if err := hookEvent(t.Context(), server, 1); err != nil {
			t.Fatal(err)
		}
		together(t, 1, "hook", path)
	}
	server.Close()
	found, err := open(t, path).Sessions(t.Context(), core.SessionFilter{})
	if err != nil || len(found) != 1 || found[0].Session.Turns != 4 {
		t.Errorf("%v %v", found, err)
	}
}

func TestAStateThatIsDeletedIsStartedAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ctxls")
	s := open(t, filepath.Join(dir, "state.db"))
	if err := hookEvent(t.Context(), s, 1); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Sessions(t.Context(), core.SessionFilter{}); err != nil || len(found) != 0 {
		t.Errorf("%v %v", found, err)
	}
	if err := hookEvent(t.Context(), s, 1); err != nil {
		t.Error(err)
	}
}

func TestALinkedStateIsMovedAsideWhereItLies(t *testing.T) {
	path := filled(t)
	if err := os.Truncate(path, 5000); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "state.db")
	if err := os.Symlink(path, link); runtime.GOOS == "windows" && err != nil {
		t.Skip("links need a privilege: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	s, _ := reporting(t, link)
	if err := hookEvent(t.Context(), s, 1); err != nil {
		t.Error(err)
	}
	if len(aside(t, path)) != 1 || len(aside(t, link)) != 0 {
		t.Errorf("moved %q and %q", aside(t, path), aside(t, link))
	}
}

// If the state was replaced meanwhile, its watcher is told to start over, though the new state has its own changes.
func TestAFreshStateIsAheadOfTheOneBefore(t *testing.T) {
	path := filled(t)
	s, _ := reporting(t, path)
	before, err := s.Changed(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.replace(t.Context(), s.file); err != nil {
		t.Fatal(err)
	}
	if feed, err := s.Changed(t.Context(), before.Revision); err != nil || !feed.Whole || len(feed.Sessions) != 0 {
		t.Errorf("%+v %v", feed, err)
	} else if feed.Revision <= before.Revision {
		t.Errorf("revision %d is not after %d", feed.Revision, before.Revision)
	}
}

func TestABusyStateIsUnavailable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	holder := open(t, path)
	waiter, err := Open(t.Context(), Options{Path: path, BusyTimeout: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer waiter.Close()
	none := func(session.State) session.Changes { return session.Changes{} }

	var group sync.WaitGroup
	defer group.Wait()
	holding, finish := make(chan bool), make(chan bool)
	group.Go(func() {
		holder.Update(context.Background(), core.Query{}, func(session.State) session.Changes {
			close(holding)
			<-finish
			return session.Changes{}
		})
	})
	<-holding
	want := "the state is busy: another process has held it for more than 30ms"
	for range 2 { // and a second time, on the same connection
		err = waiter.Update(t.Context(), core.Query{}, none)
		if coded.CodeOf(err) != coded.Unavailable || err.Error() != want {
			t.Errorf("%v (%s)", err, coded.CodeOf(err))
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := open(t, path).Update(ctx, core.Query{}, none); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a context that ends while it waits: %v", err)
	}
	if _, err := waiter.Sessions(t.Context(), core.SessionFilter{}); err != nil {
		t.Errorf("a reader waits for nobody: %v", err)
	}
	late, err := Open(t.Context(), Options{Path: path, BusyTimeout: 30 * time.Millisecond})
	if err != nil {
		t.Errorf("opening waits for nobody: %v", err)
	} else {
		late.Close()
	}
	close(finish)
	group.Wait()
	if err := waiter.Update(t.Context(), core.Query{}, none); err != nil {
		t.Errorf("once it is free: %v", err)
	}
}

// overwrite fills a page of a closed file with random bytes.
func overwrite(t *testing.T, path string, offset int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	garbage := make([]byte, 4096)
	fillRandom(garbage)
	if _, err := f.WriteAt(garbage, offset); err != nil {
		t.Fatal(err)
	}
}

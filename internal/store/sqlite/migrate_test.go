package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
)

func TestFormatIsTheLastMigration(t *testing.T) {
	if len(migrations()) != format {
		t.Errorf("there are %d migrations, and format is %d", len(migrations()), format)
	}
}

// A state of the first format, in which sessions had no revisions.
func TestAnOldStateIsBroughtUpToDate(t *testing.T) {
	path := oldState(t)
	s := open(t, path)
	feed, err := s.Changed(t.Context(), 0)
	if err != nil || !feed.Whole || len(feed.Sessions) != 1 || feed.Sessions[0].Session.Turns != 7 {
		t.Fatalf("%+v %v", feed, err)
	}
	if err := hookEvent(t.Context(), s, 1); err != nil {
		t.Fatal(err)
	}
	news, err := s.Changed(t.Context(), feed.Revision)
	if err != nil || news.Whole || len(news.Sessions) != 1 || news.Sessions[0].Session.Turns != 1 {
		t.Errorf("%+v %v", news, err)
	}
	if windows, err := s.Windows(t.Context()); err != nil || len(windows) != 0 {
		t.Errorf("what was learned of windows without saying of which kind they are is still there: %+v, %v", windows, err)
	}
	teach := session.Changes{Calibration: &session.Calibration{Model: "m", Encoding: "e", Kept: 1}}
	if err := s.Update(t.Context(), core.Query{}, func(session.State) session.Changes { return teach }); err != nil {
		t.Error(err)
	}
}

func TestAMigrationHappensWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	whole := migrations
	migrations = func() []string { return []string{whole()[0] + "; CREATE TABLE sessions (id INTEGER)"} }
	_, err := Open(t.Context(), Options{Path: path})
	migrations = whole
	if coded.CodeOf(err) != coded.Internal || strings.Contains(err.Error(), "sessions") {
		t.Errorf("%v", err)
	}
	if errors.Unwrap(err) == nil || !strings.Contains(errors.Unwrap(err).Error(), "migration 1") {
		t.Errorf("its cause is %v", errors.Unwrap(err))
	}
	if err := hookEvent(t.Context(), open(t, path), 1); err != nil {
		t.Errorf("with the right migration: %v", err)
	}
}

func TestAStateOfANewerProgramIsLeftAlone(t *testing.T) {
	path := filled(t)
	s := open(t, path)
	if err := s.run(t.Context(), true, func(ctx context.Context, c *conn) error {
		return c.exec(t.Context(), fmt.Sprintf("PRAGMA user_version = %d", format+1))
	}); err != nil {
		t.Fatal(err)
	}
	// The older program that had it open no longer writes to it.
	err := s.Update(t.Context(), core.Query{}, func(session.State) session.Changes { t.Error("decide was called"); return session.Changes{} })
	wantNewer := func(err error) {
		t.Helper()
		if coded.CodeOf(err) != coded.Unavailable || !strings.Contains(err.Error(), "newer ctxls") || !strings.Contains(err.Error(), "update ctxls") {
			t.Errorf("%v", err)
		}
	}
	wantNewer(err)
	s.Close()
	content := func() string {
		t.Helper()
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(path + "-wal") // and reports that the program is newer
		if err != nil {
			t.Fatal(err)
		}
		return string(file) + string(log)
	}
	before := content()
	_, err = Open(t.Context(), Options{Path: path})
	wantNewer(err)
	if content() != before {
		t.Error("the file or its log was touched")
	}
	if moved := aside(t, path); len(moved) != 0 {
		t.Errorf("moved %q", moved)
	}
}

func TestADatabaseOfAnotherProgramIsLeftAlone(t *testing.T) {
	for name, script := range map[string]string{
		"without a version":  "DROP TABLE paths; PRAGMA application_id = 0; PRAGMA user_version = 0",
		"with our version":   "PRAGMA application_id = 7; PRAGMA user_version = 1",
		"with a higher one":  "PRAGMA application_id = 0; PRAGMA user_version = 12",
		"with rollback logs": "PRAGMA application_id = 0; PRAGMA user_version = 0",
	} {
		path := filled(t)
		s := open(t, path)
		c := <-s.file.writer
		if _, err := c.sql.ExecContext(t.Context(), script+"; PRAGMA journal_mode = delete"); err != nil {
			t.Fatal(err)
		}
		c.giveBack()
		s.Close()
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Open(t.Context(), Options{Path: path}); coded.CodeOf(err) != coded.Invalid {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: the file was touched: %v", name, err)
		}
	}
}

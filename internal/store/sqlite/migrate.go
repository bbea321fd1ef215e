package sqlite

import (
	"context"
	"database/sql/driver"
	"embed"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// applicationID is the number that the first migration writes into the header of the file.
const applicationID = 0x6374786c

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations returns the scripts in order: the script at index n leads from format n to format n+1.
var migrations = sync.OnceValue(func() []string {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql") // sorted, and so by number
	if err != nil {
		panic(err)
	}
	scripts := make([]string, len(names))
	for i, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		scripts[i] = string(text)
	}
	return scripts
})

// format is the format that this program reads and writes: the number of the last migration. It is a constant, so that opening an
// up-to-date database does not read the scripts. A test compares both.
const format = 6

// identify returns the format of the file behind c: the format of a state, 0 for an empty file. It refuses any other file before a byte
// of it is changed.
func identify(ctx context.Context, c driver.Conn) (version int, err error) {
	id, err := number(ctx, c, "PRAGMA application_id")
	if err != nil {
		return 0, err
	}
	if id != applicationID {
		return 0, empty(ctx, c)
	}
	if version, err = number(ctx, c, "PRAGMA user_version"); err == nil && version > format {
		err = errNewer(version)
	}
	return version, err
}

// empty refuses a database of another program. It reads one snapshot of the file, since another process may be making a state of it.
func empty(ctx context.Context, c driver.Conn) error {
	if err := execute(ctx, c, "BEGIN"); err != nil {
		return err
	}
	defer execute(context.WithoutCancel(ctx), c, "ROLLBACK")
	objects, err := number(ctx, c, "SELECT count(*) FROM sqlite_schema")
	if err != nil || objects == 0 {
		return err
	}
	id, err := number(ctx, c, "PRAGMA application_id")
	if err != nil || id == applicationID {
		return err
	}
	return coded.Errorf(coded.Invalid, "the file is a database of another program: name another one with store.path")
}

// headerBytes is the length of a database's header.
const headerBytes = 100

// isState reports whether the file at path has the header of a state, even if the rest is damaged. The offsets are from SQLite's file
// format (https://www.sqlite.org/fileformat.html, 1.3).
func isState(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	header := make([]byte, headerBytes)
	_, err = io.ReadFull(f, header)
	return err == nil && string(header[:16]) == sqliteMagic && binary.BigEndian.Uint32(header[68:]) == applicationID
}

// sqliteMagic is the beginning of every SQLite database.
const sqliteMagic = "SQLite format 3\x00"

// otherFile reports whether the file at path exists and is no SQLite database. An empty file may become one.
func otherFile(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, len(sqliteMagic))
	n, err := io.ReadFull(f, begin)
	return n > 0 && (err != nil || string(begin) != sqliteMagic)
}

// errNoState refuses a file that is no database.
func errNoState(path string) error {
	return coded.Errorf(coded.Invalid, "%s is not a ctxls state; it was not touched", filepath.Base(path))
}

// errNewer refuses a state that a newer ctxls has written.
func errNewer(version int) error {
	return coded.Errorf(coded.Unavailable,
		"the state was written by a newer ctxls (its format is %d, this one knows up to %d): update ctxls, or name another file with store.path",
		version, format)
}

// migrate updates the file to format. Other processes may do the same, so each step checks the format again inside its transaction.
func migrate(ctx context.Context, c driver.Conn) error {
	for version := 0; version < format; version++ {
		if err := step(ctx, c, version); err != nil {
			return err
		}
	}
	return nil
}

// step runs the migration from the given format to the next, unless the file is newer.
func step(ctx context.Context, c driver.Conn, from int) (err error) {
	if err := execute(ctx, c, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			execute(context.WithoutCancel(ctx), c, "ROLLBACK")
		}
	}()
	version, err := number(ctx, c, "PRAGMA user_version")
	if err != nil {
		return err
	}
	if version == from {
		if err := execute(ctx, c, migrations()[from]); err != nil {
			return fmt.Errorf("migration %d: %w", from+1, err)
		}
		if err := execute(ctx, c, fmt.Sprintf("PRAGMA user_version = %d", from+1)); err != nil {
			return err
		}
	}
	return execute(ctx, c, "COMMIT")
}

// execute runs statements that return nothing.
func execute(ctx context.Context, c driver.Conn, query string) error {
	_, err := c.(driver.ExecerContext).ExecContext(ctx, query, nil)
	return err
}

// number runs a query whose result is one integer.
func number(ctx context.Context, c driver.Conn, query string) (int, error) {
	value, err := one(ctx, c, query)
	n, _ := value.(int64)
	return int(n), err
}

// one runs a query and returns the first column of its first row.
func one(ctx context.Context, c driver.Conn, query string) (driver.Value, error) {
	rows, err := c.(driver.QueryerContext).QueryContext(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(row); err != nil {
		return nil, err
	}
	return row[0], nil
}

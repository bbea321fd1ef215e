package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Inspection is the result of reading a state without changing it: a damaged file stays where it is.
type Inspection struct {
	Path    string // where the file is or would be; another place than Options.Path if Network is set
	Network string // the kind of network file system that the named place is on; "" is none
	Exists  bool
	Mode    fs.FileMode
	Owned   bool // it belongs to the user of this process
	// Bytes and LogBytes are the sizes of the file and of the write-ahead log beside it.
	Bytes, LogBytes int64
	// FreeBytes is the free space on its file system, in bytes; -1 is unknown.
	FreeBytes int64
	Aside     []string // damaged databases, and logs without a database, that were moved aside, oldest first
	// Abandoned says that the log belongs to a database that was removed or replaced. The next process that opens the state moves the
	// log aside.
	Abandoned bool
	Foreign   bool // it is some other file, see Unreadable
	// Unwritable says why the file or its directory may not be written; nil if they may, or it is unknown.
	Unwritable error
	// Unreadable says why nothing more is known: coded.Invalid and coded.Unavailable as for Open. It is nil if there is no file.
	Unreadable error
	Damage     []string // what SQLite's quick_check found wrong
	Older      bool     // its format is older; the next process that writes updates it, and until then nothing more is known
	// Sessions are all known sessions without their working sets, the most recently updated first.
	Sessions []session.Session
	Windows  []session.LearnedWindow
}

// Inspect reads the state at path without changing it; usual is as Options.Usual.
func Inspect(ctx context.Context, path string, usual bool) Inspection {
	return inspect(ctx, path, Options{Usual: usual, network: network})
}

func inspect(ctx context.Context, path string, o Options) Inspection {
	named := path
	in := Inspection{Path: path, FreeBytes: -1}
	path, err := filepath.Abs(path)
	if err != nil {
		in.Unreadable = err
		return in
	}
	in.Path, in.Network = standIn(followLinks(path), o)
	dir := existing(filepath.Dir(in.Path))
	in.FreeBytes = freeBytes(dir)
	in.Unwritable = mayWrite(dir)
	in.Aside, _ = filepath.Glob(globQuote(in.Path) + ".corrupt-*")
	in.Aside = slices.DeleteFunc(in.Aside, func(name string) bool {
		database, isLog := strings.CutSuffix(name, "-wal")
		return isLog && exists(database) || strings.HasSuffix(name, "-shm")
	})
	in.Abandoned = hasAbandoned(in.Path)
	info, err := os.Stat(in.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return in
	case err == nil && !info.Mode().IsRegular():
		err = errNotRegular(in.Path)
	}
	if err != nil {
		in.Unreadable = explain(ctx, err, 0)
		return in
	}
	in.Exists, in.Mode, in.Owned, in.Bytes = true, info.Mode().Perm(), ownedByUs(info), info.Size()
	if log, err := os.Stat(in.Path + "-wal"); err == nil {
		in.LogBytes = log.Size()
	}
	if err := mayWrite(in.Path); in.Unwritable == nil {
		in.Unwritable = err
	}
	if in.Bytes > 0 || in.LogBytes > 0 {
		err = errDamaged
		if in.Bytes == 0 || in.Bytes >= headerBytes {
			err = in.read(ctx)
		}
		if damaged(err) && !o.Usual && !isState(in.Path) {
			in.Damage, in.Unreadable, in.Foreign = nil, errNoState(named), true
		} else if damaged(err) && len(in.Damage) == 0 {
			in.Damage = []string{cause(err)}
		} else if err != nil && len(in.Damage) == 0 {
			in.Unreadable = explain(ctx, err, 0)
		}
	}
	return in
}

// read reads the file. If there is no log or no index, SQLite would create them, so it is told that the file is immutable. A state that
// was left without its index may then look older than it is. If both exist, read opens them as they are. If another process has just
// begun a new log, read is one of its readers.
func (in *Inspection) read(ctx context.Context) error {
	if !exists(in.Path+"-wal") || !exists(in.Path+"-shm") {
		return in.readAs(ctx, "immutable")
	}
	err := in.readAs(ctx, "readonly_shm")
	if code(err) == lib.SQLITE_READONLY {
		err = in.readAs(ctx, "")
	}
	return err
}

// readAs reads the file, opened in one of SQLite's read modes.
func (in *Inspection) readAs(ctx context.Context, way string) error {
	how := url.Values{"mode": {"ro"}, "_busy_timeout": {"2000"}}
	if way != "" {
		how.Set(way, "1")
	}
	in.Damage, in.Sessions, in.Windows = nil, nil, nil
	connector, err := modernc.NewConnector(fileURI(in.Path, filepath.Separator == '\\') + "?" + how.Encode())
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	c := &conn{db: db}
	if err := c.open(ctx); err != nil {
		return err
	}
	defer c.close(true)
	version := 0
	if err := c.sql.Raw(func(raw any) error {
		version, err = identify(ctx, raw.(driver.Conn))
		return err
	}); err != nil {
		return err
	}
	if err := c.rows(ctx, "PRAGMA quick_check(10)", nil, func(scan func(...any) error) error {
		var said string
		err := scan(&said)
		if said != "ok" {
			in.Damage = append(in.Damage, said)
		}
		return err
	}); err != nil || len(in.Damage) > 0 {
		return err
	}
	if in.Older = version < format; in.Older {
		return nil
	}
	return c.transaction(ctx, false, func(ctx context.Context) error {
		rows, err := c.sessions(ctx, "ORDER BY updated_at DESC, id DESC", nil)
		for _, row := range rows {
			in.Sessions = append(in.Sessions, row.session)
		}
		if err != nil {
			return err
		}
		return c.rows(ctx, selectWindows, nil, func(scan func(...any) error) error {
			w, err := scanWindow(scan)
			in.Windows = append(in.Windows, w)
			return err
		})
	})
}

// cause returns in a few words what is wrong with a damaged file.
func cause(err error) string {
	if errors.Is(err, errDamaged) {
		return errDamaged.Error()
	}
	return "it is not a sound database"
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// globQuote returns a pattern that only matches path.
func globQuote(path string) string {
	if filepath.Separator == '\\' { // glob cannot quote it there, and file names cannot contain * and ?
		return path
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// Package recall searches the records of hosts for what was said before the last compaction. It keeps an index of each session that was
// searched, in a file of its own below one directory: a cache that is built when it is asked, brought up to date when the record has
// grown, and safe to delete.
package recall

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	_ "modernc.org/sqlite" // the driver "sqlite", with FTS5

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// maxFiles is how many sessions have an index; the longest unused go first.
const maxFiles = 64

// Index keeps the indexes of all sessions. It implements core.Index. Any number of processes may use one directory.
type Index struct {
	dir string
}

// New returns the index in a directory, which is made when something is searched.
func New(dir string) *Index { return &Index{dir} }

// file returns the path of a session's index. Its name tells nothing of the session.
func (x *Index) file(key session.Key) string {
	sum := sha256.Sum256([]byte(string(key.Host) + "\x00" + key.SessionID))
	return filepath.Join(x.dir, hex.EncodeToString(sum[:16])+".db")
}

// Forget implements core.Index.
func (x *Index) Forget(key session.Key) error {
	var failed error
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if err := os.Remove(x.file(key) + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = err
		}
	}
	return failed
}

// Search implements core.Index.
func (x *Index) Search(ctx context.Context, r core.Record, h core.Historian, tools map[string]session.ToolClass, query string, limit int) ([]core.RecallLine, int, bool, error) {
	match := matchOf(query)
	if match == "" {
		return nil, 0, true, nil
	}
	path := x.file(r.Key)
	lines, found, compacted, err := x.search(ctx, path, r, h, tools, match, limit)
	if err != nil && ctx.Err() == nil && !errors.Is(err, errRecord) { // the file is damaged, or of another version: it is a cache
		if err = x.Forget(r.Key); err == nil {
			lines, found, compacted, err = x.search(ctx, path, r, h, tools, match, limit)
		}
	}
	x.prune(path)
	return lines, found, compacted, err
}

// errRecord marks an error that is about the record and not about the index.
var errRecord = errors.New("the record cannot be read")

func (x *Index) search(ctx context.Context, path string, r core.Record, h core.Historian, tools map[string]session.ToolClass, match string, limit int) (lines []core.RecallLine, found int, compacted bool, err error) {
	db, err := open(ctx, path)
	if err != nil {
		return nil, 0, false, err
	}
	defer db.Close()
	if err := update(ctx, db, r, h, tools); err != nil {
		return nil, 0, false, err
	}
	var last sql.NullInt64
	if err := db.QueryRowContext(ctx, "SELECT compacted FROM state").Scan(&last); err != nil {
		return nil, 0, false, err
	}
	if !last.Valid {
		return nil, 0, false, nil
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM line WHERE line MATCH ? AND pos < ?", match, last.Int64).Scan(&found); err != nil {
		return nil, 0, true, err
	}
	rows, err := db.QueryContext(ctx, "SELECT at, role, tool, text, cut FROM line WHERE line MATCH ? AND pos < ? ORDER BY rank LIMIT ?", match, last.Int64, limit)
	if err != nil {
		return nil, 0, true, err
	}
	defer rows.Close()
	for rows.Next() {
		var line core.RecallLine
		var at int64
		if err := rows.Scan(&at, &line.Role, &line.Tool, &line.Text, &line.Cut); err != nil {
			return nil, 0, true, err
		}
		if at != 0 {
			t := time.UnixMilli(at).UTC()
			line.At = &t
		}
		lines = append(lines, line)
	}
	return lines, found, true, rows.Err()
}

// schema is the format of a file. A file of another version is removed.
const (
	version = 1
	schema  = `CREATE VIRTUAL TABLE line USING fts5(text, role UNINDEXED, tool UNINDEXED, at UNINDEXED, pos UNINDEXED, cut UNINDEXED, tokenize = 'porter unicode61');
CREATE TABLE state (path TEXT NOT NULL, seen INTEGER NOT NULL, compacted INTEGER);
INSERT INTO state VALUES ('', -1, NULL);`
)

// open opens a file, and makes it for its owner alone.
func open(ctx context.Context, path string) (*sql.DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	f.Close()
	place := filepath.ToSlash(path)
	if !strings.HasPrefix(place, "/") { // C:/…
		place = "/" + place
	}
	name := url.URL{Scheme: "file", Path: place, RawQuery: "_busy_timeout=5000&_txlock=immediate&_pragma=synchronous(0)&_pragma=secure_delete(1)"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	var have int
	if err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err == nil && have == 0 {
		err = create(ctx, db)
	} else if err == nil && have != version {
		err = fmt.Errorf("index of version %d", have)
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

func create(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var have int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil || have == version { // another process was quicker
		return err
	}
	if _, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		return err
	}
	return tx.Commit()
}

// prune removes the indexes that were not used for longest, beyond maxFiles.
func (x *Index) prune(used string) {
	now := time.Now()
	_ = os.Chtimes(used, now, now)
	entries, err := os.ReadDir(x.dir)
	if err != nil || len(entries) <= maxFiles {
		return
	}
	type file struct {
		name string
		at   time.Time
	}
	var files []file
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".db") {
			files = append(files, file{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return b.at.Compare(a.at) })
	for _, f := range files[min(maxFiles, len(files)):] {
		_ = os.Remove(filepath.Join(x.dir, f.name))
	}
}

// maxTerms is how many words of a query are searched for.
const maxTerms = 40

// matchOf makes an expression of FTS5 from a query: any of its words, each quoted, so that nothing in it is syntax.
func matchOf(query string) string {
	var terms []string
	seen := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(query), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		if !seen[word] && !stopWords[word] && len(terms) < maxTerms {
			seen[word] = true
			terms = append(terms, `"`+word+`"`)
		}
	}
	return strings.Join(terms, " OR ")
}

// stopWords are so frequent that they say nothing of what is searched for.
var stopWords = map[string]bool{"the": true, "a": true, "an": true, "and": true, "or": true, "of": true, "to": true, "in": true, "is": true, "it": true, "i": true, "let": true,
	"me": true, "now": true, "ll": true, "s": true, "for": true, "on": true, "with": true, "that": true, "this": true, "be": true, "was": true, "are": true, "what": true, "how": true}

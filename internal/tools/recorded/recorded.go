// Package recorded finds recorded sessions of hosts below a directory, for the programs that measure ctxls on them.
package recorded

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/registry"
)

// Main runs a program whose argument is a directory of records. run prints what it finds.
func Main(name string, run func(ctx context.Context, dir string, out io.Writer) error) {
	if len(os.Args) != 2 {
		fmt.Fprintf(os.Stderr, "usage: go run ./internal/tools/%s DIR\n", name)
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// Found is the record of one session and the reader of its host's records.
type Found struct {
	core.Record
	By core.Recorder
}

// Skipped are records that are left out.
type Skipped struct {
	Agents int // of Claude Code's sub-agents
	Copies int // of sessions that another record has longer
}

// Find returns the records below dir that some host recognizes by their content, and the sessions of OpenCode's databases. Larger ones come
// first, so that of several copies of a growing record the whole one counts.
func Find(ctx context.Context, dir string) (found []Found, skipped Skipped, err error) {
	recorders := registry.Recorders(env(dir))
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if strings.HasPrefix(d.Name(), "agent-") {
			skipped.Agents++
			return nil
		}
		if d.Name() == "opencode.db" {
			more, err := database(ctx, path)
			found = append(found, more...)
			return err
		}
		for _, by := range recorders {
			if r, ok := by.Recognize(path); ok {
				found = append(found, Found{r, by})
				break
			}
		}
		return nil
	})
	slices.SortStableFunc(found, func(a, b Found) int { return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.Path, b.Path)) })
	seen := map[session.Key]bool{}
	found = slices.DeleteFunc(found, func(f Found) bool {
		copied := seen[f.Key]
		seen[f.Key] = true
		if copied {
			skipped.Copies++
		}
		return copied
	})
	return found, skipped, err
}

// env is the environment of a user without settings, whose home directory is dir.
func env(dir string) host.Env { return host.Env{Getenv: func(string) string { return "" }, Home: dir} }

// database returns the sessions of a database of OpenCode.
func database(ctx context.Context, path string) (found []Found, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	at := env(filepath.Dir(path))
	at.Getenv = func(name string) string {
		if name == "XDG_DATA_HOME" {
			return filepath.Dir(filepath.Dir(path))
		}
		return ""
	}
	for _, by := range registry.Recorders(at) {
		if by.Host() != session.HostOpenCode {
			continue
		}
		records, err := by.Find(ctx, time.Time{})
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			found = append(found, Found{r, by})
		}
	}
	return found, nil
}

// Entries returns the entries of a record, oldest first. Of a file larger than a read goes, these are the newest.
func (f Found) Entries(ctx context.Context) ([]session.Entry, error) {
	if f.Size == 0 { // in a database
		return f.History(ctx)
	}
	adapter := f.Adapter()
	seen, err := adapter.Read(ctx, f.Path, session.Cursor{})
	if err != nil {
		return nil, err
	}
	start := seen.Cursor
	start.Offset = 0
	reading, err := adapter.Read(ctx, f.Path, start)
	if err == nil && !slices.ContainsFunc(reading.Entries, func(e session.Entry) bool { return len(e.Content) > 0 }) {
		if scanner, ok := adapter.(core.Scanner); ok { // its hooks tell the content of the conversation, so that Read leaves it out
			return newestFirst(func(visit func(session.Entry) bool) error {
				return scanner.Scan(ctx, f.Path, func(int64, int64) {}, visit)
			})
		}
	}
	return reading.Entries, err
}

// newestFirst returns the entries that visit is called with, in the opposite order.
func newestFirst(read func(visit func(session.Entry) bool) error) (entries []session.Entry, err error) {
	err = read(func(e session.Entry) bool {
		entries = append(entries, e)
		return true
	})
	slices.Reverse(entries)
	return entries, err
}

// History returns the entries of a record with the texts that its host gives for searches, oldest first; none if it gives none.
func (f Found) History(ctx context.Context) ([]session.Entry, error) {
	h, ok := f.By.(core.Historian)
	if !ok {
		return nil, nil
	}
	return newestFirst(func(visit func(session.Entry) bool) error { return h.History(ctx, f.Record, true, visit) })
}

// Adapter returns the adapter of the record's host.
func (f Found) Adapter() core.Adapter {
	h, _ := registry.Find(f.Host)
	return h.Adapter(func(string) string { return "" })
}

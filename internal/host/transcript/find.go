package transcript

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// File is a regular file in which a host may keep a session.
type File struct {
	Path    string
	ModTime time.Time
	Size    int64 // bytes
}

// Find returns the regular files below root that match pattern and changed at or after since, the newest first. The zero
// since finds all of them.
//
// pattern is relative to root and has one element a directory level, such as "*/*.jsonl", in the syntax of filepath.Match.
// Find follows no symbolic link below root and opens no file. A directory that cannot be read counts as empty, since another
// program may remove it at any time. The error is that of ctx.
func Find(ctx context.Context, root, pattern string, since time.Time) ([]File, error) {
	var files []File
	err := find(ctx, root, strings.Split(pattern, "/"), func(path string, info fs.FileInfo) {
		if info.Mode().IsRegular() && !info.ModTime().Before(since) {
			files = append(files, File{Path: path, ModTime: info.ModTime(), Size: info.Size()})
		}
	})
	slices.SortFunc(files, func(a, b File) int { return b.ModTime.Compare(a.ModTime) })
	return files, err
}

func find(ctx context.Context, dir string, elements []string, visit func(path string, info fs.FileInfo)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, _ := readDir(dir)
	for _, entry := range entries {
		if ok, _ := filepath.Match(elements[0], entry.Name()); !ok {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		if len(elements) > 1 {
			if !entry.IsDir() {
				continue
			}
			if err := find(ctx, path, elements[1:], visit); err != nil {
				return err
			}
		} else if entry.Type().IsRegular() {
			if info, err := entry.Info(); err == nil {
				visit(path, info)
			}
		}
	}
	return nil
}

// readDir returns the entries of a directory in no particular order, without sorting as os.ReadDir does: a directory may
// hold 20,000 files.
func readDir(dir string) ([]fs.DirEntry, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// Head returns at most the first n bytes of a regular file.
func Head(path string, n int64) ([]byte, error) {
	f, err := open(path, bounds{})
	if err != nil {
		return nil, err
	}
	defer f.close()
	return io.ReadAll(io.LimitReader(f, n))
}

// Stat returns the regular file at path. Without one, only its Path is set.
func Stat(path string) File {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return File{Path: path}
	}
	return File{Path: path, ModTime: info.ModTime(), Size: info.Size()}
}

// Lines calls visit with the complete lines of the transcript at path, oldest first. A line longer than LineBytes is left
// out. A line is only valid during the call.
func Lines(ctx context.Context, path string, visit func(line []byte)) error {
	f, err := open(path, bounds{piece: PieceBytes, line: LineBytes})
	if err != nil {
		return err
	}
	defer f.close()
	_, err = f.forward(ctx, 0, func(_ int64, line []byte) bool {
		visit(line)
		return true
	})
	return err
}

// Turns collects the turns of a session from its record.
type Turns struct {
	list []core.RecordedTurn
	last core.RecordedTurn
}

// Begin adds a new turn.
func (t *Turns) Begin() {
	if t.last.Tokens > 0 {
		t.list = append(t.list, t.last)
	}
	t.last = core.RecordedTurn{}
}

// Report adds a response to the turn.
func (t *Turns) Report(at time.Time, tokens int) {
	t.last.Tokens = max(t.last.Tokens, tokens)
	if !at.IsZero() {
		t.last.At = at
	}
}

// ReadTurns returns the turns in the record at path. report returns the report of a line, nil if it has none; begins reports whether a line
// without one begins a turn.
func ReadTurns(ctx context.Context, path string, report func(line []byte) *session.Report, begins func(line []byte) bool) ([]core.RecordedTurn, error) {
	var turns Turns
	err := Lines(ctx, path, func(line []byte) {
		if rep := report(line); rep != nil {
			turns.Report(rep.At, rep.Tokens)
		} else if begins(line) {
			turns.Begin()
		}
	})
	return turns.All(), err
}

// ReportIn returns a function for ReadTurns that decodes only lines with a member.
func ReportIn(member string, entry func(line []byte) (session.Entry, bool)) func(line []byte) *session.Report {
	return func(line []byte) *session.Report {
		if !bytes.Contains(line, []byte(member)) {
			return nil
		}
		e, _ := entry(line)
		return e.Report
	}
}

// All returns the turns, including the current one.
func (t *Turns) All() []core.RecordedTurn {
	t.Begin()
	return t.list
}

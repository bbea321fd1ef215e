// Package estimate counts the tokens of files before an agent reads them: of files and directories below given roots, without those that
// .gitignore names. It only reads, and only a bounded part.
package estimate

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/pathname"
)

// What one call reads at most. Counting 64 MiB takes some seconds.
const (
	MaxFile     = 8 << 20  // bytes of a file
	MaxBytes    = 64 << 20 // bytes of all files
	MaxFiles    = 5_000    // files and directories that are looked at
	MaxDuration = 5 * time.Second
	MaxPaths    = 100 // paths of a call
	maxListed   = 20  // files, and omissions, that are named
	maxDepth    = 50  // directories above a file
	maxIgnore   = 1 << 20
)

// Files is what the files of a call cost.
type Files struct {
	Tokens       int        `json:"tokens"`       // of all files that were counted
	FilesCounted int        `json:"filesCounted"` // how many that are
	Largest      []File     `json:"largest"`      // those with the most tokens, at most 20
	Ignored      int        `json:"ignored"`      // files and directories that a .gitignore names
	Omitted      []Omission `json:"omitted"`      // what was not counted, and why; at most 20
	OmittedFiles int        `json:"omittedFiles"` // how many were not counted
	Complete     bool       `json:"complete"`     // nothing that was asked for is missing, apart from what is ignored
}

// File is one file.
type File struct {
	Path   string `json:"path"`   // as it was asked for, or below that
	Tokens int    `json:"tokens"` // of its text
	Bytes  int    `json:"bytes"`  // its size
}

// Omission is a file that was not counted.
type Omission struct {
	Path string `json:"path"` // as it was asked for, or below that
	Why  string `json:"why"`  // binary, larger than 8 MiB, no regular file, outside of the workspace, not there, or beyond the bounds
}

// Count counts files and directories. A path is absolute, or relative to the first root; what it names must be below one of the roots,
// links included. count counts a text.
func Count(ctx context.Context, roots, paths []string, count func(text string) (int, error)) (Files, error) {
	if len(roots) == 0 {
		return Files{}, coded.Field("paths", "this client has no folder open, so that no file may be read; text can be counted")
	}
	if len(paths) > MaxPaths {
		return Files{}, coded.Field("paths", "expected at most %d paths, got %d", MaxPaths, len(paths))
	}
	ctx, cancel := context.WithTimeout(ctx, MaxDuration)
	defer cancel()
	c := counter{ctx: ctx, count: count, counted: map[string]bool{}, Files: Files{Largest: []File{}, Omitted: []Omission{}}}
	for _, asked := range paths {
		if err := c.path(roots, asked); err != nil {
			return Files{}, err
		}
	}
	slices.SortStableFunc(c.Largest, func(a, b File) int { return cmp.Compare(b.Tokens, a.Tokens) })
	c.Largest = c.Largest[:min(len(c.Largest), maxListed)]
	c.Complete = c.OmittedFiles == 0
	return c.Files, nil
}

type counter struct {
	Files
	ctx     context.Context
	count   func(string) (int, error)
	counted map[string]bool // absolute paths: a file counts once
	bytes   int
	looked  int
}

func (c *counter) omit(name, why string) {
	c.OmittedFiles++
	if len(c.Omitted) < maxListed {
		c.Omitted = append(c.Omitted, Omission{name, why})
	}
}

// path counts what one path names.
func (c *counter) path(roots []string, asked string) error {
	full := pathname.Native(asked, pathname.OnWindows)
	if !filepath.IsAbs(full) {
		full = filepath.Join(roots[0], full)
	}
	for _, dir := range roots {
		rel, err := filepath.Rel(dir, full)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		root, err := os.OpenRoot(dir) // nothing outside of it is opened, whatever the links
		if err != nil {
			c.omit(asked, "not there")
			return nil
		}
		defer root.Close()
		w := walk{counter: c, root: root, dir: dir, asked: asked, base: filepath.ToSlash(rel)}
		info, err := root.Stat(filepath.ToSlash(rel))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c.omit(asked, "not there")
		case err != nil:
			c.omit(asked, "outside of the workspace, or not readable")
		case info.IsDir():
			return w.directory(w.base, w.above(), 0)
		default:
			return w.file(w.base)
		}
		return nil
	}
	c.omit(asked, "outside of the workspace")
	return nil
}

// walk is one path that is counted.
type walk struct {
	*counter
	root             *os.Root
	dir, asked, base string
}

// shown returns the path of a file as the caller would write it.
func (w walk) shown(name string) string {
	if name == w.base {
		return w.asked
	}
	below := name
	if w.base != "." {
		below = strings.TrimPrefix(name, w.base+"/")
	}
	if w.asked == "." {
		return below
	}
	return strings.TrimRight(filepath.ToSlash(w.asked), "/") + "/" + below
}

// above returns the rules of the directories above the one that was asked for.
func (w walk) above() (rules []rule) {
	if w.base == "." {
		return nil
	}
	rules = w.ignores(".")
	parts := strings.Split(w.base, "/")
	for i := 1; i < len(parts); i++ {
		rules = append(rules, w.ignores(strings.Join(parts[:i], "/"))...)
	}
	return rules
}

func (w walk) ignores(dir string) []rule {
	text, err := w.read(path.Join(dir, ".gitignore"), maxIgnore)
	if err != nil {
		return nil
	}
	return parseIgnore(dir, text)
}

// errNotRegular and errTooLarge are why a file is not read.
var errNotRegular, errTooLarge = errors.New("no regular file"), errors.New("larger than the bound")

// read reads a regular file of bounded size. It is looked at before it is opened, since opening a FIFO waits.
func (w walk) read(name string, most int) (string, error) {
	if info, err := w.root.Stat(name); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", errNotRegular
	} else if info.Size() > int64(most) {
		return "", errTooLarge
	}
	f, err := w.root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		err = errTooLarge
	}
	return string(data), err
}

// bounded reports whether the bounds of a call are reached, and says so of name.
func (w walk) bounded(name string) bool {
	w.looked++
	switch {
	case w.ctx.Err() != nil:
		w.omit(w.shown(name), "beyond the bounds: 5 seconds were over")
	case w.looked > MaxFiles:
		w.omit(w.shown(name), "beyond the bounds: 5,000 files and directories")
	case w.bytes >= MaxBytes:
		w.omit(w.shown(name), "beyond the bounds: 64 MiB")
	default:
		return false
	}
	return true
}

func (w walk) directory(dir string, rules []rule, depth int) error {
	f, err := w.root.Open(dir)
	if err != nil {
		w.omit(w.shown(dir), "not readable")
		return nil
	}
	entries, err := f.ReadDir(MaxFiles + 1)
	f.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		w.omit(w.shown(dir), "not readable")
		return nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	rules = append(slices.Clone(rules), w.ignores(dir)...)
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		switch {
		case entry.Name() == ".git":
		case ignored(rules, name, entry.IsDir()):
			w.Ignored++
		case w.bounded(name):
			return nil
		case entry.IsDir() && depth < maxDepth:
			if err := w.directory(name, rules, depth+1); err != nil {
				return err
			}
		case entry.IsDir():
			w.omit(w.shown(name), "beyond the bounds: 50 directories deep")
		case entry.Type()&fs.ModeSymlink != 0: // a search of a directory follows none, and it might lead back
			w.omit(w.shown(name), "a symbolic link")
		default:
			if err := w.file(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w walk) file(name string) error {
	full := filepath.Join(w.dir, filepath.FromSlash(name))
	if w.counted[full] {
		return nil
	}
	w.counted[full] = true
	text, err := w.read(name, MaxFile)
	switch {
	case errors.Is(err, errTooLarge):
		w.omit(w.shown(name), "larger than 8 MiB")
		return nil
	case errors.Is(err, errNotRegular):
		w.omit(w.shown(name), "no regular file")
		return nil
	case err != nil:
		w.omit(w.shown(name), "not readable")
		return nil
	case strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text):
		w.omit(w.shown(name), "binary")
		return nil
	}
	tokens, err := w.count(text)
	if err != nil {
		return err
	}
	w.bytes += len(text)
	w.Tokens, w.FilesCounted = w.Tokens+tokens, w.FilesCounted+1
	w.Largest = append(w.Largest, File{w.shown(name), tokens, len(text)})
	return nil
}

package session

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

// WorkingContext is the working set in the form for a host.
type WorkingContext struct {
	Paths   []string // as shown, in byte order
	Omitted int      // the number of paths that did not fit
}

// maxContextBytes bounds the paths of a working context with their prefixes, in bytes. With the other lines, the text stays below
// MaxInjectedChars in every unit that hosts use. A host cuts a longer text, even in the middle of a path.
const maxContextBytes = MaxInjectedChars - 500

// NewWorkingContext chooses the most recently used paths, with the heavier use first among equals, and shows them relative to cwd. Two
// spellings of one file count once. Paths that do not fit count as omitted.
func NewWorkingContext(set []PathUse, cwd string, cfg settings.CompactionConfig) WorkingContext {
	set = slices.Clone(set)
	slices.SortStableFunc(set, func(a, b PathUse) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Use, a.Use), cmp.Compare(a.Path, b.Path))
	})
	var w WorkingContext
	first, room := OnceShown(cwd), maxContextBytes
	for _, use := range set {
		shown := ShowPath(use.Path, cwd, cfg.MaxPathLength)
		if !first(shown) {
			continue
		}
		if line := len("  - \n") + len(shown); len(w.Paths) == cfg.MaxPaths || line > room {
			w.Omitted++
		} else {
			w.Paths = append(w.Paths, shown)
			room -= line
		}
	}
	slices.Sort(w.Paths)
	return w
}

// Lines returns the text, nil if there are no paths.
func (w WorkingContext) Lines() []string {
	return w.lines("Current file paths in context:")
}

func (w WorkingContext) lines(heading string) []string {
	if len(w.Paths) == 0 {
		return nil
	}
	lines := append(make([]string, 0, len(w.Paths)+3), "ctxls: working context", heading)
	for _, p := range w.Paths {
		lines = append(lines, "  - "+p)
	}
	switch {
	case w.Omitted == 1:
		lines = append(lines, "  ... and 1 more path")
	case w.Omitted > 1:
		lines = append(lines, fmt.Sprintf("  ... and %d more paths", w.Omitted))
	}
	return lines
}

// ShowPath returns a path for display: relative to cwd if it is inside, with forward slashes, sanitized, and with at most limit
// characters. It understands Windows paths on every system, since another system may have written the store.
func ShowPath(p, cwd string, limit int) string {
	windows := pathname.IsWindowsPath(p) || pathname.IsWindowsPath(cwd) || strings.HasPrefix(cwd, `\`) // of the current drive
	p, cwd = pathname.Slashed(p, windows), pathname.Slashed(cwd, windows)
	if rel, ok := pathname.RelativeTo(p, cwd, windows); ok {
		p = rel
	}
	return text.Sanitize(p, limit)
}

// onceShown returns a function that reports whether a displayed path is the first of its spelling. Case does not count on Windows.
func OnceShown(cwd string) func(shown string) bool {
	seen := map[string]bool{}
	return func(shown string) bool {
		if pathname.IsWindowsPath(cwd) || pathname.IsWindowsPath(shown) {
			shown = strings.ToLower(shown)
		}
		first := !seen[shown]
		seen[shown] = true
		return first
	}
}

// lostPaths returns the displayed paths that a summary does not mention. A summary mentions a path in full, or by its last element if no
// other path ends in it.
func lostPaths(shown []string, summary string) []string {
	summary = strings.ReplaceAll(summary, `\`, "/") // as paths are shown
	names := map[string]int{}
	for _, p := range shown {
		names[path.Base(p)]++
	}
	var lost []string
	for _, p := range shown {
		if mentions(summary, p) || names[path.Base(p)] == 1 && mentions(summary, path.Base(p)) {
			continue
		}
		lost = append(lost, p)
	}
	return lost
}

// mentions reports whether text contains name, but not as part of a longer name.
func mentions(text, name string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(name)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		dotted := after == '.' && end+1 < len(text) && isNameRune(rune(text[end+1]))
		if !isNameRune(before) && !isNameRune(after) && !dotted {
			return true
		}
		from = start + 1
	}
}

func isNameRune(r rune) bool {
	return r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z' || r > utf8.RuneSelf && r != utf8.RuneError
}

// maxPromptPaths bounds the paths that are taken from one prompt.
const maxPromptPaths = 20

// PathsInPrompt returns the files that a prompt names: "@src/main.go", "./build", "src/core/trim.go". It only takes a word for a path if
// the word looks like nothing else, since a wrong path would replace a file that matters.
func PathsInPrompt(prompt string) []PathUse {
	var found []PathUse
	for word := range strings.FieldsSeq(prompt) {
		word = strings.Trim(word, "\"'`()[]{}<>,;:!?*")
		word = strings.TrimRight(word, ".")
		at := strings.HasPrefix(word, "@")
		word = strings.TrimPrefix(word, "@")
		slash := strings.LastIndexAny(word, `/\`)
		name := word[slash+1:]
		dot := strings.LastIndexByte(name, '.')
		hasExtension := dot > 0 && dot < len(name)-1 && len(name)-dot <= 9 && !text.IsDigits(name[dot+1:])
		rooted := strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") || strings.HasPrefix(word, "/") || pathname.IsWindowsPath(word)
		switch {
		case name == "" || len(word) > 300 || strings.Contains(word, "://") || strings.ContainsAny(word, "@=|&$%"):
		case at && (slash >= 0 || hasExtension), slash > 0 && hasExtension, rooted && strings.Count(word, "/")+strings.Count(word, `\`) > 1:
			found = append(found, PathUse{Path: word, Use: Mentioned})
		}
		if len(found) == maxPromptPaths {
			break
		}
	}
	return found
}

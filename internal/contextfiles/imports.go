package contextfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// textExtensions are the extensions of files that Claude Code imports; a file without one is imported, too.
var textExtensions = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, e := range strings.Fields(`md txt text json yaml yml toml xml csv html htm css scss sass less js ts tsx jsx mjs cjs mts cts py pyi
		pyw rb erb rake go rs java kt kts scala c cpp cc cxx h hpp hxx cs swift sh bash zsh fish ps1 bat cmd env ini cfg conf config
		properties sql graphql gql proto vue svelte astro ejs hbs pug jade php pl pm lua r dart ex exs erl hrl clj cljs cljc edn hs lhs
		elm ml mli f f90 f95 for cmake make makefile gradle sbt rst adoc asciidoc org tex latex lock log diff patch`) {
		all["."+e] = true
	}
	return all
})

// extension returns what Node takes for the extension of a file, in lower case: nothing where the only dot comes first.
func extension(path string) string {
	return strings.ToLower(filepath.Ext(strings.TrimPrefix(filepath.Base(path), ".")))
}

// importable reports whether Claude Code takes a file for text, by its name.
func importable(path string) bool {
	ext := extension(path)
	return ext == "" || textExtensions()[ext]
}

// add takes note of a defect.
func (l *Load) add(code Code, path string, at span, format string, args ...any) *Finding {
	l.Findings = append(l.Findings, Finding{Code: code, Host: l.Host, Path: path, Start: at.start, End: at.end, Message: fmt.Sprintf(format, args...)})
	return &l.Findings[len(l.Findings)-1]
}

// checkImport says why an import of Claude Code's is not loaded, if it is not.
func (c *claude) checkImport(path string, doc *document, ref reference, target string, of scope, depth int) {
	info, err := c.env.Files.Stat(target)
	switch {
	case err != nil:
		if cut, ok := c.withoutPunctuation(ref, filepath.Dir(path)); ok {
			f := c.load.add(ImportPunctuation, path, ref.span, "Not loaded: Claude Code takes %q for part of the path. Without it, %s exists.", ref.target[cut:], ref.target[:cut])
			if raw := doc.text[ref.start:ref.end]; strings.HasSuffix(raw, ref.target[cut:]) {
				f.Fix = &Fix{Title: fmt.Sprintf("Remove %q after the import", ref.target[cut:]), Start: ref.end - (len(ref.target) - cut), End: ref.end}
			}
		} else if looksLikePath(ref.target) {
			c.load.add(ImportMissing, path, ref.span, "Not loaded: %s does not exist.", target)
		}
	case info.IsDir():
		if strings.HasSuffix(ref.target, "/") {
			c.load.add(ImportKind, path, ref.span, "Not loaded: %s is a directory.", target)
		}
	case of != user && !c.approved && !isIn(c.real(target), c.env.Dir):
		c.load.add(ImportOutside, path, ref.span, "Not loaded: %s is outside %s, and imports from outside are not approved for it.", target, c.env.Dir)
	case !importable(target):
		c.load.add(ImportKind, path, ref.span, "Not loaded: Claude Code imports no %s files.", extension(target))
	case !info.Mode().IsRegular():
		c.load.add(ImportKind, path, ref.span, "Not loaded: %s is not a regular file.", target)
	case info.Size() > maxFile:
		c.load.add(FileTooLarge, path, ref.span, "Not loaded: %s has %d bytes, and Claude Code reads at most 4 MiB.", target, info.Size())
	case slices.Contains(c.chain, target):
		c.load.add(ImportCircular, path, ref.span, "Not loaded again: %s imports this file.", target)
	case depth >= claudeHops && !c.seen[target]:
		c.load.add(ImportTooDeep, path, ref.span, "Not loaded: it is %d imports away from %s, and Claude Code follows %d.", depth+1, c.chain[0], claudeHops)
	}
}

// real returns where links lead.
func (c *claude) real(path string) string {
	if real, err := c.env.Files.Resolve(path); err == nil {
		return real
	}
	return path
}

// punctuation is what writers put behind a path.
const punctuation = `.,;:!?)]}"'*_>|` + "`"

// withoutPunctuation returns the length of an import's path that names a file once the punctuation behind it is removed.
func (c *claude) withoutPunctuation(ref reference, dir string) (length int, ok bool) {
	cut := strings.TrimRight(ref.target, punctuation)
	if cut == ref.target || cut == "" {
		return 0, false
	}
	info, err := c.env.Files.Stat(c.resolve(cut, dir))
	return len(cut), err == nil && info.Mode().IsRegular()
}

// looksLikePath reports whether a word after @ can only be meant as a file: it names the way, or ends like a text file. A package
// such as @scope/name, or the name of a person, does not.
func looksLikePath(target string) bool {
	return strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../") || strings.HasPrefix(target, "~/") || target[0] == '/' ||
		textExtensions()[extension(strings.TrimRight(target, punctuation))]
}

// checkGlued reports the imports that Claude Code does not see because a bracket or a quote stands before the @, if the file exists.
func (c *claude) checkGlued(path string, doc *document, dir string) {
	for _, ref := range doc.glued {
		target := strings.TrimRight(ref.target, punctuation)
		if target == "" || !looksLikePath(target) {
			continue
		}
		if info, err := c.env.Files.Stat(c.resolve(target, dir)); err == nil && info.Mode().IsRegular() {
			at := span{ref.start, ref.start + 1 + len(target)}
			c.load.add(ImportPunctuation, path, at, "Not loaded: an import has white space before its @, and here is %q.", doc.text[ref.start-1:ref.start])
		}
	}
}

// reasonOf says in words why a file cannot be read.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, ErrTooLarge):
		return "over 4 MiB"
	case errors.Is(err, ErrNotRegular):
		return "not a regular file"
	}
	return "it cannot be read"
}

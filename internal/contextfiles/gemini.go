package contextfiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
)

// geminiHops is how deep Gemini CLI follows imports.
const geminiHops = 5

// geminiLimit bounds the bytes that imports may make of one file here. Gemini CLI itself has no bound: it puts a file in again for
// every import of it, so that a few lines can grow to gigabytes.
const geminiLimit = 4 << 20

func readGemini(env Env) *Load {
	l := &Load{Host: session.HostGeminiCLI}
	l.Root = env.rootOf([]string{".git"})
	dir := filepath.Join(env.Home, ".gemini")
	names := []string{"GEMINI.md"}
	for _, file := range []string{filepath.Join(dir, "settings.json"), filepath.Join(env.Dir, ".gemini", "settings.json")} {
		if own := geminiNames(env.Files, file); own != nil {
			names = own
		}
	}
	g := &gemini{env: env, load: l, seen: map[string]bool{}, said: map[Finding]bool{}}
	global := Part{Name: "user memory", Where: "the system prompt", Head: "<loaded_context>\n", Sep: "\n\n", Tail: "\n</loaded_context>"}
	for _, name := range names {
		g.add(&global, filepath.Join(dir, name))
	}
	project := Part{Name: "memory", Where: "the first user message", Head: "<loaded_context>\n<project_context>\n", Sep: "\n\n", Tail: "\n</project_context>\n</loaded_context>"}
	var paths []string
	for _, at := range env.between(l.Root) {
		if at == dir {
			continue
		}
		for _, name := range names {
			paths = append(paths, filepath.Join(at, name))
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		g.add(&project, path)
	}
	l.Parts = []Part{global, project}
	return l
}

// geminiNames returns the names of memory files that a settings file sets; nil where it sets none.
func geminiNames(files FS, path string) []string {
	data, err := files.ReadFile(path, 8<<20)
	if err != nil {
		return nil
	}
	var settings struct {
		Context struct {
			FileName json.RawMessage `json:"fileName"`
		} `json:"context"`
	}
	if json.Unmarshal(standardJSON(data), &settings) != nil {
		return nil
	}
	var one string
	if json.Unmarshal(settings.Context.FileName, &one) == nil && one != "" {
		return []string{one}
	}
	var many []string
	_ = json.Unmarshal(settings.Context.FileName, &many)
	return many
}

// gemini collects what Gemini CLI loads.
type gemini struct {
	env  Env
	load *Load
	seen map[string]bool // files by where links lead

	part *Part
	root string // of the repository of the file that is being read
	size int    // bytes that its imports have made
	told map[string]int
	said map[Finding]bool // where a defect was reported
}

// add adds a memory file, once, with its imports put in.
func (g *gemini) add(part *Part, path string) {
	doc := g.env.Files.read(path)
	if doc.err != nil {
		return
	}
	real := g.real(path)
	if g.seen[real] {
		part.Entries = append(part.Entries, Entry{Kind: KindMemory, Path: path, When: Never, Reason: "the same file is loaded by another name", Size: doc.size})
		return
	}
	g.seen[real] = true
	at := len(part.Entries)
	part.Entries = append(part.Entries, Entry{})
	g.part, g.size, g.told = part, 0, map[string]int{}
	g.root = Env{Files: g.env.Files, Dir: filepath.Dir(path)}.rootOf([]string{".git"})
	text := strings.TrimFunc(g.expand(doc.text, path, nil), isSpace)
	e := Entry{Kind: KindMemory, Path: path, When: AtStart, Size: doc.size, Sent: len(text)}
	if text == "" {
		part.Entries = slices.Delete(part.Entries, at, at+1)
		return
	}
	e.Text = "--- Context from: " + path + " ---\n" + text + "\n--- End of Context from: " + path + " ---"
	part.Entries[at] = e
	g.load.checkUnread(path, doc)
}

func (g *gemini) real(path string) string {
	if real, err := g.env.Files.Resolve(path); err == nil {
		return real
	}
	return path
}

var codeRun = regexp.MustCompile("`+")

// codeRegions returns the spans that Gemini CLI takes for code: from a run of backquotes to the next of that length or longer.
func codeRegions(text string) (regions []span) {
	for at := 0; ; {
		run := codeRun.FindStringIndex(text[at:])
		if run == nil {
			return regions
		}
		start, end := at+run[0], at+run[1]
		at = end
		for n := end - start; n > 0; n-- { // it tries the whole run first, then less of it
			if i := strings.Index(text[start+n:], strings.Repeat("`", n)); i >= 0 {
				at = start + n + i + n
				regions = append(regions, span{start, at})
				break
			}
		}
	}
}

// geminiImports returns the imports of a text by the grammar of Gemini CLI.
func geminiImports(text string) (refs []reference) {
	isBreak := func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
	code := codeRegions(text)
	for i := 0; ; {
		j := strings.IndexByte(text[min(i, len(text)):], '@')
		if j < 0 {
			return refs
		}
		start := i + j
		if start > 0 && !isBreak(text[start-1]) {
			i = start + 1
			continue
		}
		end := start + 1
		for end < len(text) && !isBreak(text[end]) {
			end++
		}
		i = end + 1
		target := text[start+1 : end]
		if target == "" {
			continue
		}
		if c := target[0]; c != '.' && c != '/' && !('a' <= c|0x20 && c|0x20 <= 'z') {
			continue
		}
		for len(code) > 0 && code[0].end <= start {
			code = code[1:]
		}
		if len(code) > 0 && code[0].start <= start {
			continue
		}
		refs = append(refs, reference{span{start, end}, target})
	}
}

// expand returns a text with its imports put in place, as Gemini CLI does. chain holds the files that are being imported.
func (g *gemini) expand(text, path string, chain []string) string {
	if len(chain) >= geminiHops {
		for _, ref := range geminiImports(text) {
			if looksLikePath(ref.target) {
				g.tell(ImportTooDeep, path, ref, "Not loaded: Gemini CLI follows %d imports in a row.", geminiHops)
			}
		}
		return text
	}
	var b strings.Builder
	at := 0
	for _, ref := range geminiImports(text) {
		b.WriteString(text[at:ref.start])
		at = ref.end
		b.WriteString(g.imported(ref, path, chain))
	}
	b.WriteString(text[at:])
	return b.String()
}

// imported returns what stands in the place of an import.
func (g *gemini) imported(ref reference, path string, chain []string) string {
	target := filepath.Join(filepath.Dir(path), filepath.FromSlash(ref.target))
	if filepath.IsAbs(ref.target) {
		target = filepath.Clean(ref.target)
	}
	failed := func(why string) string { return fmt.Sprintf("<!-- Import failed: %s - %s -->", ref.target, why) }
	if !isIn(g.real(target), g.real(g.root)) {
		if looksLikePath(ref.target) {
			g.tell(ImportOutside, path, ref, "Not loaded: %s is outside %s.", target, g.root)
		}
		return failed("Path traversal attempt")
	}
	if slices.Contains(chain, target) {
		g.tell(ImportCircular, path, ref, "Not loaded again: %s imports this file.", target)
		return "<!-- File already processed: " + ref.target + " -->"
	}
	doc := g.env.Files.read(target)
	switch {
	case errors.Is(doc.err, fs.ErrNotExist):
		g.missing(path, ref, target)
		return failed("ENOENT: no such file or directory, access '" + target + "'")
	case doc.err != nil:
		if info, err := g.env.Files.Stat(target); err == nil && info.IsDir() {
			return failed("EISDIR: illegal operation on a directory, read")
		}
		g.tell(FileUnreadable, path, ref, "Not counted: %s: %s.", target, reasonOf(doc.err))
		return failed(reasonOf(doc.err))
	case g.size > geminiLimit:
		return failed("the imports of this file are over the bound of ctxls")
	}
	g.told[target]++
	if g.told[target] == 2 {
		g.tell(LoadedTwice, path, ref, "Loaded again: Gemini CLI puts in %s once for each import of it.", target)
	}
	at := len(g.part.Entries)
	g.part.Entries = append(g.part.Entries, Entry{})
	g.size += len(doc.text) + len(ref.target) + len("<!-- Imported from:  -->\n\n<!-- End of import from:  -->")
	inner := g.expand(doc.text, target, append(slices.Clone(chain), target))
	inner = "<!-- Imported from: " + ref.target + " -->\n" + inner + "\n<!-- End of import from: " + ref.target + " -->"
	g.part.Entries[at] = Entry{Kind: KindImport, Path: target, Parent: path, Depth: len(chain) + 1, When: AtStart, Text: inner, Sent: len(doc.text), Size: doc.size, Inlined: true}
	return inner
}

// missing reports an import of a file that is not there.
func (g *gemini) missing(path string, ref reference, target string) {
	cut := strings.TrimRight(ref.target, punctuation)
	if cut != ref.target && cut != "" {
		if info, err := g.env.Files.Stat(filepath.Join(filepath.Dir(path), cut)); err == nil && info.Mode().IsRegular() {
			if f := g.tell(ImportPunctuation, path, ref, "Not loaded: Gemini CLI takes %q for part of the path. Without it, %s exists.", ref.target[len(cut):], cut); f != nil {
				f.Fix = &Fix{Title: fmt.Sprintf("Remove %q after the import", ref.target[len(cut):]), Start: ref.start + 1 + len(cut), End: ref.end}
			}
			return
		}
	}
	if looksLikePath(ref.target) {
		g.tell(ImportMissing, path, ref, "Not loaded: %s does not exist. Gemini CLI puts an error message in its place.", target)
	}
}

// tell reports a defect once for each place: a file may be put in many times.
func (g *gemini) tell(code Code, path string, ref reference, format string, args ...any) *Finding {
	place := Finding{Code: code, Path: path, Start: ref.start}
	if g.said[place] {
		return nil
	}
	g.said[place] = true
	return g.load.add(code, path, ref.span, format, args...)
}

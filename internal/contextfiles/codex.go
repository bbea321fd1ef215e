package contextfiles

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
)

// codexCap is how many bytes of project documents Codex loads when project_doc_max_bytes does not say.
const codexCap = 32 << 10

// codexSeparator stands between the user's document and those of the project.
const codexSeparator = "\n\n--- project-doc ---\n\n"

func readCodex(env Env) *Load {
	l := &Load{Host: session.HostCodex}
	home := env.Getenv("CODEX_HOME")
	if home == "" {
		home = filepath.Join(env.Home, ".codex")
	}
	settings := readTOML(env.Files, filepath.Join(home, "config.toml"))
	l.Model = settings.text("model")
	l.Window = settings.number("model_context_window", 0) * 95 / 100 // Codex leaves 5 % out
	markers := []string{".git"}
	if settings.has("project_root_markers") {
		markers = settings.list("project_root_markers")
	}
	l.Root = env.rootOf(markers)
	part := Part{Name: "memory", Where: "a user message before the first prompt", Head: "# AGENTS.md instructions for " + env.Dir + "\n\n<INSTRUCTIONS>\n",
		Sep: "\n\n", Tail: "\n</INSTRUCTIONS>"}
	names := append([]string{"AGENTS.override.md", "AGENTS.md"}, settings.list("project_doc_fallback_filenames")...)
	for i, name := range names[:2] {
		path := filepath.Join(home, name)
		doc := env.Files.read(path)
		text := strings.TrimFunc(doc.text, isSpace)
		if doc.err != nil || text == "" {
			continue
		}
		part.Entries = append(part.Entries, Entry{Kind: KindMemory, Path: path, When: AtStart, Text: text, Sent: len(text), Size: doc.size})
		if i == 0 {
			part.Entries = append(part.Entries, overridden(env, filepath.Join(home, names[1]), name)...)
		}
		break
	}
	l.projectDocs(env, &part, names, settings.number("project_doc_max_bytes", codexCap))
	l.Parts = []Part{l.codexSkills(env, home), part}
	return l
}

// rootOf returns the nearest directory at or above Dir that holds one of the markers; Dir where none does.
func (env Env) rootOf(markers []string) string {
	for dir := env.Dir; ; dir = filepath.Dir(dir) {
		for _, marker := range markers {
			if _, err := env.Files.Stat(filepath.Join(dir, marker)); err == nil {
				return dir
			}
		}
		if dir == filepath.Dir(dir) {
			return env.Dir
		}
	}
}

// between returns the directories from root to Dir.
func (env Env) between(root string) (dirs []string) {
	for dir := env.Dir; ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == root || dir == filepath.Dir(dir) {
			break
		}
	}
	slices.Reverse(dirs)
	return dirs
}

// projectDocs adds the documents of the project, from its root to the current directory, up to a number of bytes in all. Those that
// come after are dropped without a word.
func (l *Load) projectDocs(env Env, part *Part, names []string, limit int) {
	left, first := limit, true
	for _, dir := range env.between(l.Root) {
		for i, name := range names {
			path := filepath.Join(dir, name)
			doc := env.Files.read(path)
			if doc.err != nil {
				continue
			}
			e := Entry{Kind: KindMemory, Path: path, When: AtStart, Size: doc.size}
			text := doc.text
			switch {
			case left <= 0 || len(text) > left && strings.TrimFunc(text[:left], isSpace) == "":
				e.When, e.Reason = Never, "the documents above it have filled project_doc_max_bytes"
				l.add(FileDropped, path, span{}, "Not loaded: the documents above it fill the %d bytes that Codex loads of a project's documents.", limit)
			case len(text) > left:
				e.Cut = true
				l.add(FileCut, path, span{left, len(text)}, "Codex loads the first %d of %d bytes: a project's documents may have %d in all.", left, len(text), limit)
				text = text[:left]
			}
			if e.When == AtStart && strings.TrimFunc(text, isSpace) == "" {
				break
			}
			if e.When == AtStart {
				left -= len(text)
				text = strings.ToValidUTF8(text, "\ufffd")
				e.Text, e.Sent = text, len(text)
				if first && len(part.Entries) > 0 {
					e.Text = strings.TrimPrefix(codexSeparator, "\n\n") + text
				}
				first = false
				l.checkUnread(path, doc)
			}
			part.Entries = append(part.Entries, e)
			if i == 0 {
				part.Entries = append(part.Entries, overridden(env, filepath.Join(dir, names[1]), name)...)
			}
			break
		}
	}
}

// overridden returns the entry of a file that another one of its directory replaces, if it is there.
func overridden(env Env, path, by string) []Entry {
	doc := env.Files.read(path)
	if doc.err != nil {
		return nil
	}
	return []Entry{{Kind: KindMemory, Path: path, When: Never, Reason: "replaced by " + by, Size: doc.size}}
}

// checkUnread reports frontmatter that the host sends as text instead of reading it.
func (l *Load) checkUnread(path string, doc *document) {
	if doc.front.end == 0 || !doc.front.has("paths") && !doc.front.has("globs") && !doc.front.has("applyTo") && !doc.front.has("alwaysApply") {
		return
	}
	l.add(FrontmatterUnread, path, span{0, len(strings.TrimRightFunc(doc.text[:doc.front.end], isSpace))},
		"%s reads no frontmatter in this file: it is sent as text, and its conditions have no effect.", Titles[l.Host])
}

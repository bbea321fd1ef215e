package contextfiles

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Import is an import as it stands in a file, whether it is loaded or not. Offsets are in bytes.
type Import struct {
	Start, End int
	Path       string // where it leads
}

// Imports returns the imports of a file by the grammar of a host; none for hosts without imports.
func Imports(env Env, host session.Host, path string) (imports []Import) {
	doc := env.Files.read(path)
	dir := filepath.Dir(path)
	switch host {
	case session.HostClaudeCode:
		if real, err := env.Files.Resolve(path); err == nil {
			dir = filepath.Dir(real)
		}
		for _, ref := range doc.refs {
			imports = append(imports, Import{ref.start, ref.end, resolveImport(env.Home, ref.target, dir)})
		}
	case session.HostGeminiCLI:
		for _, ref := range geminiImports(doc.text) {
			target := filepath.Join(dir, filepath.FromSlash(ref.target))
			if filepath.IsAbs(ref.target) {
				target = filepath.Clean(ref.target)
			}
			imports = append(imports, Import{ref.start, ref.end, target})
		}
	}
	slices.SortFunc(imports, func(a, b Import) int { return a.Start - b.Start })
	return imports
}

// Heading is a heading of a Markdown file, with the text up to the next one of its level or above. Offsets are in bytes.
type Heading struct {
	Level      int
	Title      string
	Start, End int // of the whole section
	Line       int // end of the heading's own line
}

// Outline returns the headings of a file.
func Outline(env Env, path string) (headings []Heading) {
	doc := env.Files.read(path)
	body := []byte(doc.text)[doc.front.end:]
	for node := markdown().Parse(text.NewReader(body)).FirstChild(); node != nil; node = node.NextSibling() {
		h, ok := node.(*ast.Heading)
		if !ok || h.Lines().Len() == 0 {
			continue
		}
		line := h.Lines().At(0)
		start := bytes.LastIndexByte(body[:line.Start], '\n') + 1
		headings = append(headings, Heading{Level: h.Level, Title: strings.TrimSpace(string(line.Value(body))), Start: doc.front.end + start, Line: doc.front.end + line.Stop})
	}
	for i := range headings {
		headings[i].End = len(doc.text)
		for _, next := range headings[i+1:] {
			if next.Level <= headings[i].Level {
				headings[i].End = next.Start
				break
			}
		}
	}
	return headings
}

// IsContextFile reports whether a file is one that a host looks for by its name.
func IsContextFile(path string) bool {
	switch filepath.Base(path) {
	case "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", "SKILL.md":
		return true
	}
	slashed := filepath.ToSlash(path)
	if filepath.Ext(path) != ".md" {
		return false
	}
	for _, dir := range []string{"/.claude/rules/", "/.claude/commands/", "/.claude/agents/"} {
		if strings.Contains(slashed, dir) {
			return true
		}
	}
	return false
}

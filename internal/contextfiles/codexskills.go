package contextfiles

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// codexDescription is how many characters of a skill's description Codex lists, the three dots included.
const codexDescription = 1024

// codexSkills returns the listing of skills that files define.
func (l *Load) codexSkills(env Env, home string) Part {
	part := Part{Name: "skills", Where: "a developer message before the first prompt", Sep: "\n", Head: "### Available skills\n",
		Tail: "\n</skills_instructions>", Rest: "the introduction and the lines of the built-in skills"}
	// The order of the captured request; the built-in skills are the fourth.
	roots := []string{filepath.Join(env.Dir, ".codex", "skills"), filepath.Join(home, "skills"), filepath.Join(env.Home, ".agents", "skills"), ""}
	for _, dir := range env.between(l.Root) {
		roots = append(roots, filepath.Join(dir, ".agents", "skills"))
	}
	for i, root := range roots {
		if root == "" {
			continue
		}
		for _, entry := range sortedDir(env.Files, root) {
			path := filepath.Join(root, entry.Name(), "SKILL.md")
			doc := env.Files.read(path)
			if doc.err != nil || strings.HasPrefix(entry.Name(), ".") {
				continue
			}
			name, description := doc.front.get("name"), oneLine(doc.front.get("description"))
			e := Entry{Kind: KindSkill, Path: path, Name: cmp.Or(name, entry.Name()), When: AtStart, Size: doc.size}
			if description == "" {
				e.When, e.Reason = Never, "its frontmatter lacks a description"
				l.add(DescriptionNone, path, span{}, "Not listed: Codex needs a description in the frontmatter of a skill.")
			} else {
				if n := utf8.RuneCountInString(description); n > codexDescription {
					l.add(DescriptionCut, path, span{}, "Listed: %d of the %d characters of this description.", codexDescription, n)
					description = string([]rune(description)[:codexDescription-3]) + "..."
					e.Cut = true
				}
				e.Text = fmt.Sprintf("- %s: %s (file: r%d/%s/SKILL.md)", e.Name, description, i, entry.Name())
				e.Sent = len(e.Text)
			}
			part.Entries = append(part.Entries, e)
		}
	}
	slices.SortStableFunc(part.Entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return part
}

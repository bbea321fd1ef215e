package contextfiles

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// maxDepth bounds how deep directories of rules, skills and commands are looked through.
const maxDepth = 16

// rules adds the rules of a directory and of those below it, in the order in which the file system lists them. A rule with paths
// waits for a file that matches; what it imports is loaded at the start all the same.
func (c *claude) rules(dir string, of scope) {
	c.rulesIn(dir, of, 0, map[string]bool{})
}

func (c *claude) rulesIn(dir string, of scope, depth int, visited map[string]bool) {
	real, err := c.env.Files.Resolve(dir)
	if err != nil || visited[real] || depth > maxDepth {
		return
	}
	visited[real] = true
	// A directory that a link leads to lies outside the project like an import from there.
	if of == project && !c.approved && depth > 0 && !isIn(real, c.env.Dir) && isIn(dir, c.env.Dir) {
		return
	}
	entries, err := c.env.Files.ReadDir(real)
	if err != nil {
		return
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		info, err := c.env.Files.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			c.rulesIn(path, of, depth+1, visited)
		case strings.HasSuffix(entry.Name(), ".md"):
			c.addFile(path, of, Entry{Kind: KindRule, Path: path})
		}
	}
}

// rulePaths returns the patterns of a rule; nil where it holds everywhere. The trailing /** of a pattern counts for nothing.
func rulePaths(front frontmatter) (paths []string) {
	for _, value := range front.values["paths"] {
		for _, pattern := range splitPatterns(value) {
			if pattern = strings.TrimSuffix(pattern, "/**"); pattern != "" {
				paths = append(paths, pattern)
			}
		}
	}
	if !slices.ContainsFunc(paths, func(p string) bool { return p != "**" }) {
		return nil
	}
	return paths
}

// splitPatterns splits a list at its commas, but for those in braces.
func splitPatterns(list string) (patterns []string) {
	depth, start := 0, 0
	for i := 0; i <= len(list); i++ {
		if i < len(list) {
			switch list[i] {
			case '{':
				depth++
			case '}':
				depth--
			}
			if list[i] != ',' || depth != 0 {
				continue
			}
		}
		if pattern := strings.TrimSpace(list[start:i]); pattern != "" {
			patterns = append(patterns, pattern)
		}
		start = i + 1
	}
	return patterns
}

// checkRules reports the rules whose paths match no file. Where a project has more than maxWalk names, nothing is said.
func (c *claude) checkRules() {
	type rule struct {
		path     string
		patterns []*regexp.Regexp
	}
	waiting := map[string][]rule{} // by the directory that paths count from
	for _, e := range c.entries {
		if e.Kind != KindRule || e.When != OnRead {
			continue
		}
		dir := c.dirOf(e)
		if dir == "" {
			dir = c.env.Dir
		}
		r := rule{path: e.Path}
		for _, pattern := range e.Paths {
			if compiled := ignores(pattern); compiled != nil {
				r.patterns = append(r.patterns, compiled)
			}
		}
		waiting[dir] = append(waiting[dir], r)
	}
	for dir, rules := range waiting {
		whole := walkFiles(c.env.Files, dir, func(rel string) bool {
			rules = slices.DeleteFunc(rules, func(r rule) bool {
				return slices.ContainsFunc(r.patterns, func(p *regexp.Regexp) bool { return p.MatchString(rel) })
			})
			return len(rules) > 0
		})
		for _, r := range rules {
			if whole {
				doc := c.env.Files.read(r.path)
				c.load.add(RuleMatchesNone, r.path, span{0, len(strings.TrimRightFunc(doc.text[:doc.front.end], isSpace))}, "Never loaded: its paths match no file below %s.", dir)
			}
		}
	}
}

package estimate

import (
	"path"
	"strings"
)

// rule is one line of a .gitignore.
type rule struct {
	dir      string // of the file, slashed, relative to the root; "." is the root
	pattern  string
	negated  bool
	dirOnly  bool
	anchored bool // it holds only for paths relative to dir
}

// parseIgnore reads a .gitignore (https://git-scm.com/docs/gitignore).
func parseIgnore(dir, text string) (rules []rule) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasSuffix(line, `\ `) {
			line = strings.TrimRight(line, " ")
		}
		if line == "" || line[0] == '#' {
			continue
		}
		r := rule{dir: dir}
		if rest, ok := strings.CutPrefix(line, "!"); ok {
			r.negated, line = true, rest
		}
		if rest, ok := strings.CutSuffix(line, "/"); ok {
			r.dirOnly, line = true, rest
		}
		r.anchored = strings.Contains(line, "/")
		if r.pattern = strings.TrimPrefix(line, "/"); r.pattern != "" {
			rules = append(rules, r)
		}
	}
	return rules
}

// ignored reports whether the last rule that matches a slashed path excludes it.
func ignored(rules []rule, name string, isDir bool) bool {
	excluded := false
	for _, r := range rules {
		rel := name
		if r.dir != "." {
			below, ok := strings.CutPrefix(name, r.dir+"/")
			if !ok {
				continue
			}
			rel = below
		}
		if r.negated != excluded || r.dirOnly && !isDir {
			continue // it would change nothing
		}
		if r.anchored && matches(strings.Split(r.pattern, "/"), strings.Split(rel, "/")) || !r.anchored && matches([]string{r.pattern}, []string{path.Base(rel)}) {
			excluded = !r.negated
		}
	}
	return excluded
}

// matches reports whether the parts of a path match those of a pattern, in which ** stands for any number of parts.
func matches(pattern, parts []string) bool {
	if len(pattern) == 0 {
		return len(parts) == 0
	}
	if pattern[0] == "**" {
		if len(pattern) == 1 {
			return len(parts) > 0
		}
		for i := range len(parts) + 1 {
			if matches(pattern[1:], parts[i:]) {
				return true
			}
		}
		return false
	}
	if len(parts) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], parts[0])
	return ok && err == nil && matches(pattern[1:], parts[1:])
}

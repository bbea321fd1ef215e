package contextfiles

import (
	"path/filepath"
	"regexp"
	"strings"
)

// maxWalk bounds the files and directories that a search visits.
const maxWalk = 50_000

// globFiles returns the files below a directory whose path matches a pattern with *, ?, **, [] and {}. It looks at most at maxWalk
// names, and does not follow links to directories.
func globFiles(files FS, dir, pattern string) (found []string) {
	if !strings.ContainsAny(pattern, "*?[{") {
		path := filepath.Join(dir, filepath.FromSlash(pattern))
		if info, err := files.Stat(path); err == nil && info.Mode().IsRegular() {
			return []string{path}
		}
		return nil
	}
	matches := glob(strings.TrimPrefix(pattern, "./"))
	if matches == nil {
		return nil
	}
	walkFiles(files, dir, func(rel string) bool {
		if matches.MatchString(rel) {
			found = append(found, filepath.Join(dir, filepath.FromSlash(rel)))
		}
		return true
	})
	return found
}

// walkFiles calls visit with the slashed path of each file below a directory until visit returns false. It leaves out .git and
// node_modules, and reports whether it saw everything.
func walkFiles(files FS, dir string, visit func(rel string) bool) (whole bool) {
	left := maxWalk
	var walk func(rel string, depth int) bool
	walk = func(rel string, depth int) bool {
		entries, err := files.ReadDir(filepath.Join(dir, filepath.FromSlash(rel)))
		if err != nil {
			return true
		}
		for _, entry := range entries {
			if left--; left < 0 || depth > 64 {
				return false
			}
			name := entry.Name()
			if rel != "" {
				name = rel + "/" + name
			}
			switch {
			case entry.IsDir():
				if entry.Name() != ".git" && entry.Name() != "node_modules" && !walk(name, depth+1) {
					return false
				}
			case !visit(name):
				return false
			}
		}
		return true
	}
	return walk("", 0)
}

// glob compiles a pattern of slashed paths: ** stands for any number of directories, {a,b} for a or b. It returns nil for one that
// cannot match. The time to match grows with the path alone, whatever the pattern.
func glob(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	depth := 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case strings.HasPrefix(pattern[i:], "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(".*")
			i++
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[' && strings.IndexByte(pattern[i:], ']') > 1:
			end := i + strings.IndexByte(pattern[i:], ']')
			set := pattern[i+1 : end]
			if set[0] == '!' {
				set = "^" + set[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(set, `\`, `\\`) + "]")
			i = end
		case c == '{' && strings.IndexByte(pattern[i:], '}') > 0:
			b.WriteString("(?:")
			depth++
		case c == '}' && depth > 0:
			b.WriteString(")")
			depth--
		case c == ',' && depth > 0:
			b.WriteString("|")
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	b.WriteString(strings.Repeat(")", depth) + "$")
	compiled, err := regexp.Compile(b.String())
	if err != nil {
		return nil
	}
	return compiled
}

// ignores reports whether a pattern of a .gitignore, which is how Claude Code reads the paths of a rule, covers a slashed path.
func ignores(pattern string) *regexp.Regexp {
	pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
	anchored := strings.Contains(pattern, "/")
	pattern = strings.TrimPrefix(pattern, "/")
	if !anchored {
		pattern = "**/" + pattern
	}
	compiled := glob(pattern)
	if compiled == nil {
		return nil
	}
	below := strings.TrimSuffix(compiled.String(), "$") + "(?:/.*)?$" // what is below a directory that matches
	deep, err := regexp.Compile(below)
	if err != nil {
		return nil
	}
	return deep
}

package test

import (
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ARCHITECTURE.md and CONTRIBUTING.md match this tree: every named file and directory exists, and the architecture names
// every package. A name is relative to the root of the repository, to internal, or to a directory that its paragraph
// named before. HOST stands for each host.
func TestArchitecture(t *testing.T) {
	texts := documents(t)
	named := map[string]bool{}
	for _, document := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		seen := 0
		for paragraph := range strings.SplitSeq(fenced.ReplaceAllString(texts[document], ""), "\n\n") {
			from := []string{"", "internal"}
			for _, name := range namesOf(paragraph) {
				found := inTree(t, from, name)
				switch {
				case found != nil:
					seen++
					from = append(from, found...)
					for _, place := range found {
						if document == "ARCHITECTURE.md" && !strings.Contains(name, "*") {
							named[place], named[path.Dir(place)] = true, true
						}
					}
				case placeLike.MatchString(name):
					t.Errorf("%s names %s, which does not exist", document, name)
				}
			}
		}
		if seen < 5 {
			t.Errorf("%s names %d places of the tree; is it read right?", document, seen)
		}
	}
	packages := goPackages(t)
	for _, name := range packages {
		if !named[name] && !named[above(packages, name)] {
			t.Errorf("ARCHITECTURE.md does not name the package %s", name)
		}
	}
}

var (
	span = regexp.MustCompile("`([^`]+)`")
	// A place is a path or a file name. Words without a slash or an extension may be other things.
	placeLike = regexp.MustCompile(`/|\.(go|md|json|js|mjs|ts|lua|sql|sh|svg|css|html)$`)
	// These are not in the tree: files that tests create, the user's home, flags, variables, and all packages at once.
	elsewhere = regexp.MustCompile(`^[~$-]|^/|=|\.\.\.|(^|/)(bin|dist|out)(/|$)`)
)

// namesOf returns the possible paths in a paragraph's code spans, cleaned.
func namesOf(paragraph string) (names []string) {
	for _, m := range span.FindAllStringSubmatch(paragraph, -1) {
		for word := range strings.FieldsSeq(m[1]) {
			if !elsewhere.MatchString(word) {
				names = append(names, path.Clean(strings.TrimSuffix(word, ":")))
			}
		}
	}
	return names
}

// inTree returns the paths that a name stands for, relative to the root of the repository.
func inTree(t *testing.T, from []string, name string) (places []string) {
	t.Helper()
	names := []string{name}
	if strings.Contains(name, "HOST") {
		names = nil
		for _, host := range []string{"claudecode", "codex", "gemini", "generic", "opencode"} {
			names = append(names, strings.ReplaceAll(name, "HOST", host))
		}
	}
	for _, dir := range from {
		for _, name := range names {
			found, err := filepath.Glob(filepath.Join("..", dir, name))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, place := range found {
				places = append(places, filepath.ToSlash(strings.TrimPrefix(place, ".."+string(filepath.Separator))))
			}
		}
	}
	return places
}

// goPackages returns the directories with Go files, relative to the root of the repository.
func goPackages(t *testing.T) (packages []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(place string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules", "testdata"}, entry.Name()):
			return filepath.SkipDir
		case filepath.Ext(place) == ".go":
			if dir := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(place), ".."+string(filepath.Separator))); !slices.Contains(packages, dir) {
				packages = append(packages, dir)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// above returns the nearest enclosing package, or "".
func above(packages []string, name string) string {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if slices.Contains(packages, dir) {
			return dir
		}
	}
	return ""
}

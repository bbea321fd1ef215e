package test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every promise of docs/security.md names tests by package directory and name, and each of them exists.
func TestEveryPromise(t *testing.T) {
	text, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	reference := regexp.MustCompile("`([a-z][a-z0-9/]*)\\.((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	_, promises, _ := strings.Cut(string(text), "\n## ")
	items := strings.Split(promises, "\n- ")[1:]
	if len(items) < 10 {
		t.Fatalf("found %d promises", len(items))
	}
	for _, item := range items {
		item, _, _ = strings.Cut(item, "\n\n")
		found := reference.FindAllStringSubmatch(item, -1)
		if len(found) == 0 {
			t.Errorf("no test holds: %s", item)
		}
		for _, ref := range found {
			if !hasTest(t, ref[1], ref[2]) {
				t.Errorf("there is no %s in %s, which is to hold: %s", ref[2], ref[1], item)
			}
		}
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}

package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every console block of the documents is run, in order, one HOME a document, from the root of the repository: a line that
// begins with "$ " is a command, the lines after it what it prints on both outputs. "…" stands for anything within a line.
func TestDocuments(t *testing.T) {
	bin := buildAll(t)
	documents, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range append(documents, "../README.md") {
		t.Run(filepath.Base(document), func(t *testing.T) {
			text, err := os.ReadFile(document)
			if err != nil {
				t.Fatal(err)
			}
			patiently(t, func(home string) error {
				for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
					for _, part := range strings.Split("\n"+block[1], "\n$ ")[1:] {
						command, want, _ := strings.Cut(part, "\n")
						cmd := exec.Command("sh", "-c", command)
						cmd.Dir = ".."
						cmd.Env = []string{"HOME=" + home, "PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "COLUMNS=120", "NO_COLOR=1"}
						got, err := cmd.CombinedOutput()
						if err != nil {
							return fmt.Errorf("%s: %w", command, err)
						}
						if !printed(string(got), want) {
							return fmt.Errorf("$ %s\n--- the document says\n%s\n--- it prints\n%s", command, want, got)
						}
					}
				}
				return nil
			})
		})
	}
}

func printed(got, want string) bool {
	var pattern strings.Builder
	for _, part := range strings.Split(strings.TrimRight(want, "\n"), "…") {
		pattern.WriteString(regexp.QuoteMeta(part) + "[^\n]*")
	}
	return regexp.MustCompile("^" + strings.TrimSuffix(pattern.String(), "[^\n]*") + "\n*$").MatchString(got)
}

// A link to a file of the repository leads somewhere.
func TestLinks(t *testing.T) {
	documents, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range append(documents, more...) {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(document), link[1])); err != nil {
				t.Errorf("%s links to %s: %v", filepath.Base(document), link[1], err)
			}
		}
	}
}

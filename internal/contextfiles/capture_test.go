package contextfiles

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ctxls/ctxls/internal/core/session"
)

// capture is a prepared machine, and what models were asked by hosts that ran there.
type capture struct {
	dir      string
	files    ordered
	requests map[string]string // by "DIR PART"
}

// ordered lists directories in the order of a captured file system rather than that of the test's.
type ordered struct {
	FS
	place map[string]int
}

func (o ordered) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := o.FS.ReadDir(name)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		return o.place[filepath.Join(name, a.Name())] - o.place[filepath.Join(name, b.Name())]
	})
	return entries, err
}

// readCapture lays out a capture below a temporary directory. A name may end in " -> TARGET" for a link, and in "(bom)", "(crlf)" and
// "(no newline)" for what an archive of text cannot hold.
func readCapture(t *testing.T, name string) capture {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "par", "project", ".git"), 0o755); err != nil { // each project was a repository
		t.Fatal(err)
	}
	c := capture{dir: dir, files: ordered{FS: Disk{}, place: map[string]int{}}, requests: map[string]string{}}
	for i, file := range archive.Files {
		text := strings.NewReplacer("$DIR", c.dir, "$CR", "\r").Replace(string(file.Data))
		if request, ok := strings.CutPrefix(file.Name, "request "); ok {
			c.requests[request] = strings.TrimSuffix(text, "\n")
			continue
		}
		rel, target, link := strings.Cut(file.Name, " -> ")
		has := func(mark string) bool {
			cut := strings.Contains(rel, " ("+mark+")")
			rel = strings.Replace(rel, " ("+mark+")", "", 1)
			return cut
		}
		if has("crlf") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		if has("bom") {
			text = "\ufeff" + text
		}
		if has("no newline") {
			text = strings.TrimSuffix(text, "\n")
		}
		path := filepath.Join(c.dir, filepath.FromSlash(rel))
		for at := path; at != c.dir; at = filepath.Dir(at) {
			if _, there := c.files.place[at]; !there {
				c.files.place[at] = i
			}
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if link {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// env returns the environment of a session that starts in a directory of the capture.
func (c capture) env(dir string) Env {
	return Env{Files: NewReader(c.files), Home: filepath.Join(c.dir, "home"), Dir: filepath.Join(c.dir, filepath.FromSlash(dir)), Getenv: func(string) string { return "" }}
}

func (c capture) load(t *testing.T, host session.Host, dir string) *Load {
	t.Helper()
	l, err := Read(c.env(dir), host)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// What the package renders is what the model received, byte for byte: files, order, wrapping, imports.
func TestCaptures(t *testing.T) {
	for name, host := range map[string]session.Host{
		"claude-imports": session.HostClaudeCode, "claude-agents-md": session.HostClaudeCode,
		"claude-outside": session.HostClaudeCode, "claude-approved": session.HostClaudeCode,
		"codex": session.HostCodex, "codex-cap": session.HostCodex, "gemini": session.HostGeminiCLI,
		"opencode": session.HostOpenCode, "opencode-claude": session.HostOpenCode,
	} {
		t.Run(name, func(t *testing.T) {
			c := readCapture(t, name)
			if len(c.requests) == 0 {
				t.Fatal("the capture has no requests")
			}
			for request, want := range c.requests {
				dir, name, _ := strings.Cut(request, " ")
				part := c.load(t, host, dir).find(name)
				if part == nil {
					t.Fatalf("no part %q", name)
				}
				got := part.Text()
				if part.Rest != "" { // the lines of files alone are in the archive
					got = strings.TrimSuffix(got, part.Tail)
					want = strings.TrimSuffix(want, part.Tail)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-received +rendered):\n%s", request, diff)
				}
			}
		})
	}
}

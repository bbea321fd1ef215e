//go:build unix

package contextfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
)

// newProject makes a repository below a temporary directory and returns a session in it.
func newProject(t *testing.T, files map[string]string) Env {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files[filepath.Join("project", ".git", "HEAD")] = ""
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Env{Files: NewReader(Disk{}), Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "project"), Getenv: func(string) string { return "" }}
}

func codes(l *Load) (all []Code) {
	for _, f := range l.Findings {
		all = append(all, f.Code)
	}
	return all
}

// Five files of a few kilobytes would grow to terabytes in Gemini CLI. Here the text is bounded, and it is told what repeats.
func TestBombOfImports(t *testing.T) {
	files := map[string]string{}
	for i := range 6 {
		files[fmt.Sprintf("project/f%d.md", i)] = strings.Repeat(fmt.Sprintf("@f%d.md ", i+1), 300)
	}
	files["project/GEMINI.md"] = files["project/f0.md"]
	env := newProject(t, files)
	l, err := Read(env, session.HostGeminiCLI)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(l.find("memory").Text()); n > 8*geminiLimit {
		t.Errorf("%d bytes", n)
	}
	if !slices.Contains(codes(l), LoadedTwice) {
		t.Errorf("%v", codes(l))
	}
	// Claude Code loads each file once, however often it is named.
	claude := filepath.Join(env.Dir, "CLAUDE.md")
	if err := os.WriteFile(claude, []byte(strings.Repeat("@f0.md\n", 100_000)), 0o644); err != nil {
		t.Fatal(err)
	}
	if l, err = Read(env, session.HostClaudeCode); err != nil || len(l.find("memory").Entries) != 5 {
		t.Errorf("%d entries, %v", len(l.find("memory").Entries), err)
	}
}

// A link out of the project is followed no more than a path out of it.
func TestLinksOut(t *testing.T) {
	env := newProject(t, map[string]string{"secret.md": "SECRET\n", "rules/r.md": "SECRET\n", "project/CLAUDE.md": "@link.md @dir/r.md\n", "project/GEMINI.md": "@link.md\n"})
	for to, name := range map[string]string{"../secret.md": "link.md", "../rules": "dir"} {
		if err := os.Symlink(to, filepath.Join(env.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, host := range []session.Host{session.HostClaudeCode, session.HostGeminiCLI} {
		l, err := Read(env, host)
		if err != nil {
			t.Fatal(err)
		}
		if text := l.find("memory").Text(); strings.Contains(text, "SECRET") {
			t.Errorf("%s: %s", host, text)
		}
		if !slices.Contains(codes(l), ImportOutside) {
			t.Errorf("%s: %v", host, codes(l))
		}
	}
}

// Nothing waits for a FIFO, reads a device or a huge file, or goes round in links; and it is told.
func TestWhatIsNoFile(t *testing.T) {
	env := newProject(t, map[string]string{"project/CLAUDE.md": "@fifo.md @huge.md @loop.md @/dev/zero\n"})
	for _, name := range []string{"fifo.md", "CLAUDE.local.md"} {
		if err := syscall.Mkfifo(filepath.Join(env.Dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	huge, err := os.Create(filepath.Join(env.Dir, "huge.md"))
	if err != nil {
		t.Fatal(err)
	}
	if err := huge.Truncate(1 << 30); err != nil {
		t.Fatal(err)
	}
	huge.Close()
	if err := os.Symlink("loop.md", filepath.Join(env.Dir, "loop.md")); err != nil {
		t.Fatal(err)
	}
	l, err := Read(env, session.HostClaudeCode)
	if err != nil {
		t.Fatal(err)
	}
	got := codes(l)
	slices.Sort(got)
	want := []Code{FileTooLarge, FileUnreadable, ImportKind, ImportMissing, ImportOutside}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

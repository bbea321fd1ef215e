package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxls/ctxls/internal/contextfiles"
	"github.com/ctxls/ctxls/internal/core/session"
)

// largeProject makes a project of 10,000 context files, half of them rules and half imports.
func largeProject(b *testing.B) contextfiles.Env {
	dir := b.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	memory := "# Project\n\n"
	for i := range 5000 {
		write(fmt.Sprintf(".claude/rules/r%04d.md", i), fmt.Sprintf("# Rule %d\n\nUse gofmt, and keep functions of package %d short. <!-- checked -->\n", i, i))
		write(fmt.Sprintf("docs/d%04d.md", i), fmt.Sprintf("# Document %d\n\nOrders are paid before they are sent; see `@docs/none.md` for more of %d.\n", i, i))
		memory += fmt.Sprintf("- see @docs/d%04d.md for part %d\n", i, i)
	}
	write("CLAUDE.md", memory)
	return contextfiles.Env{Files: contextfiles.NewReader(contextfiles.Disk{}), Home: filepath.Join(dir, "home"), Dir: dir, Getenv: func(string) string { return "" }}
}

// BenchmarkFirst is the first audit of 10,000 context files.
func BenchmarkFirst(b *testing.B) {
	env := largeProject(b)
	b.ReportAllocs()
	for b.Loop() {
		env.Files = contextfiles.NewReader(contextfiles.Disk{})
		if _, err := Run(Options{Env: env, Hosts: []session.Host{session.HostClaudeCode}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkKeystroke is the audit of 10,000 context files after a change of one in an editor.
func BenchmarkKeystroke(b *testing.B) {
	env := largeProject(b)
	counts, path, n := NewCounts(), filepath.Join(env.Dir, "docs", "d0001.md"), 0
	run := func() {
		n++
		env := env
		env.Files = env.Files.Over(contextfiles.Overlay{FS: contextfiles.Disk{}, Buffers: map[string][]byte{path: fmt.Appendf(nil, "# Document\n\n%d\n", n)}})
		if _, err := Run(Options{Env: env, Hosts: []session.Host{session.HostClaudeCode}, Counts: counts}); err != nil {
			b.Fatal(err)
		}
	}
	run()
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
}

// BenchmarkLargeFile is the audit after a change in a file of 1 MB.
func BenchmarkLargeFile(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "CLAUDE.md")
	text := []byte("# Large\n\n")
	for i := 0; len(text) < 1<<20; i++ {
		text = fmt.Appendf(text, "- Orders of part %d are paid before they are sent, see `docs` and mail ann@example.com.\n\n## Part %d\n\n", i, i)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		b.Fatal(err)
	}
	env := contextfiles.Env{Files: contextfiles.NewReader(contextfiles.Disk{}), Home: filepath.Join(dir, "home"), Dir: dir, Getenv: func(string) string { return "" }}
	counts, n := NewCounts(), 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		env := env
		env.Files = env.Files.Over(contextfiles.Overlay{FS: contextfiles.Disk{}, Buffers: map[string][]byte{path: fmt.Appendf(text[:len(text):len(text)], "%d\n", n)}})
		if _, err := Run(Options{Env: env, Hosts: []session.Host{session.HostClaudeCode}, Counts: counts}); err != nil {
			b.Fatal(err)
		}
	}
}

package estimate

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// files makes a directory of files.
func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// bytes counts a byte as a token.
func bytes(text string) (int, error) { return len(text), nil }

func count(t *testing.T, roots, paths []string) Files {
	t.Helper()
	got, err := Count(t.Context(), roots, paths, bytes)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A directory is counted with everything below it, without what its .gitignore files name. A file that is asked for by its name counts,
// ignored or not, and each file once.
func TestCount(t *testing.T) {
	dir := files(t, map[string]string{
		".gitignore": "*.log\n/build/\n!keep.log\n# no\n\nnode_modules/\ndocs/**/draft.md\n", "a.txt": "aaaa", "keep.log": "k", "x.log": "xxxxxxxx",
		"build/out.js": "oooo", "src/build/in.js": "ii", "src/.gitignore": "secret.txt\n", "src/secret.txt": "s", "src/deep/secret.txt": "s",
		"web/node_modules/m/index.js": "mmmm", "docs/a/b/draft.md": "dddd", "docs/draft.txt": "d", ".git/config": "cccccccc", "image.png": "\x89PNG\x00",
	})
	got := count(t, []string{dir}, []string{"."})
	want := Files{FilesCounted: 6, Ignored: 6, OmittedFiles: 1, Omitted: []Omission{{"image.png", "binary"}}}
	for name, size := range map[string]int{".gitignore": 61, "a.txt": 4, "src/.gitignore": 11, "src/build/in.js": 2, "keep.log": 1, "docs/draft.txt": 1} {
		want.Tokens += size
		if name == ".gitignore" {
			info, _ := os.Stat(filepath.Join(dir, name))
			want.Tokens += int(info.Size()) - size
		}
	}
	names := []string{}
	for _, f := range got.Largest {
		names = append(names, f.Path)
	}
	if diff := cmp.Diff([]string{".gitignore", "src/.gitignore", "a.txt", "src/build/in.js", "docs/draft.txt", "keep.log"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	got.Largest = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	named := count(t, []string{dir}, []string{"x.log", filepath.Join(dir, "x.log"), "src/deep"})
	if named.Tokens != 8 || named.FilesCounted != 1 || named.Ignored != 1 || !named.Complete {
		t.Errorf("by name: %+v", named)
	}
}

// Nothing outside of the roots is read: no path, no link, and no special file.
func TestCountStaysInside(t *testing.T) {
	outside := files(t, map[string]string{"secret": "secret"})
	dir := files(t, map[string]string{"in.txt": "in"})
	paths := []string{filepath.Join(outside, "secret"), "../secret", "missing.txt"}
	want := []Omission{{paths[0], "outside of the workspace"}, {"../secret", "outside of the workspace"}, {"missing.txt", "not there"}}
	if runtime.GOOS != "windows" {
		for name, target := range map[string]string{"link": filepath.Join(outside, "secret"), "dir": outside, "loop": "."} {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		paths = append(paths, "link", "dir/secret", "/dev/zero")
		want = append(want, Omission{"link", "outside of the workspace, or not readable"}, Omission{"dir/secret", "outside of the workspace, or not readable"}, Omission{"/dev/zero", "outside of the workspace"})
	}
	got := count(t, []string{dir}, paths)
	if diff := cmp.Diff(want, got.Omitted); diff != "" || got.Tokens != 0 {
		t.Errorf("%d tokens, omitted (-want +got):\n%s", got.Tokens, diff)
	}
	if all := count(t, []string{dir}, []string{dir}); all.Tokens != 2 || all.FilesCounted != 1 {
		t.Errorf("the directory: %+v", all)
	}
	if _, err := Count(t.Context(), nil, []string{"in.txt"}, bytes); coded.CodeOf(err) != coded.Invalid {
		t.Errorf("without a root: %v", err)
	}
}

// The bounds of a call hold, and what they leave out is said.
func TestCountIsBounded(t *testing.T) {
	texts := map[string]string{"big/huge.txt": strings.Repeat("x", MaxFile+1)}
	for i := range MaxFiles + 1 {
		texts[fmt.Sprintf("many/%05d", i)] = "1"
	}
	dir := files(t, texts)
	if got := count(t, []string{dir}, []string{"big"}); got.Tokens != 0 || got.Complete || got.Omitted[0] != (Omission{"big/huge.txt", "larger than 8 MiB"}) {
		t.Errorf("a file over the bound: %+v", got)
	}
	if got := count(t, []string{dir}, []string{"many"}); got.FilesCounted > MaxFiles || got.Complete || len(got.Largest) != maxListed {
		t.Errorf("many files: %d counted, complete %v", got.FilesCounted, got.Complete)
	}
}

package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/core/settings"
)

const levels = `{"levels": [20, 30, 40]}`

// load returns the levels in force and the problems, without the directory in their paths.
func load(t *testing.T, dir string, s config.Sources) ([]int, string) {
	t.Helper()
	got, problems := config.Load(s)
	text := strings.ReplaceAll(join(problems), dir+string(filepath.Separator), "")
	return got.Levels, strings.TrimSuffix(text, "\n")
}

func TestUnreadableFiles(t *testing.T) {
	for _, test := range []struct {
		name  string
		place func(t *testing.T, path string)
		want  string // text after the file's name
	}{
		{"a directory", func(t *testing.T, path string) { mkdir(t, path) }, "cannot be read: a directory: want a regular file"},
		{"a link to a directory", func(t *testing.T, path string) {
			mkdir(t, path+".d")
			symlink(t, filepath.Base(path)+".d", path)
		}, "cannot be read: a directory: want a regular file"},
	} {
		for _, name := range []string{"config.json", ".ctxls.json"} {
			t.Run(test.name+"/"+name, func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, name)
				test.place(t, path)
				s := config.Sources{UserFile: path}
				if name == ".ctxls.json" {
					s = config.Sources{CWD: dir}
				}
				got, problems := load(t, dir, s)
				if want := name + ": " + test.want; problems != want {
					t.Errorf("problems: %s\nwant: %s", problems, want)
				}
				if diff := cmp.Diff(settings.Default().Levels, got); diff != "" {
					t.Errorf("levels (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A file of exactly the largest size is accepted, and a file with one more byte is refused.
func TestLargestFile(t *testing.T) {
	dir := t.TempDir()
	for name, most := range map[string]int{"config.json": 1 << 20, ".ctxls.json": 64 << 10} {
		path := filepath.Join(dir, name)
		text := levels + strings.Repeat(" ", most-len(levels))
		writeString(t, path, text)
		if problems := config.CheckFile(path); len(problems) > 0 {
			t.Errorf("%s of %d bytes: %v", name, most, problems)
		}
		writeString(t, path, text+" ")
		want := fmt.Sprintf("%s: cannot be read: larger than %d bytes\n", path, most)
		if got := join(config.CheckFile(path)); got != want {
			t.Errorf("%s of a byte more: %q, want %q", name, got, want)
		}
	}
}

// The user's own links may lead anywhere. The links of a workspace must stay in their directory.
func TestSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside.json")
	writeString(t, outside, levels)
	repo := filepath.Join(dir, "repo")
	writeString(t, filepath.Join(repo, "tools", "inside.json"), levels)

	user := filepath.Join(dir, "user", "config.json")
	mkdir(t, filepath.Dir(user))
	symlink(t, outside, user)
	got, problems := load(t, dir, config.Sources{UserFile: user})
	if diff := cmp.Diff([]int{20, 30, 40}, got); diff != "" || problems != "" {
		t.Errorf("the user's link: levels (-want +got):\n%s\nproblems: %s", diff, problems)
	}

	link := filepath.Join(repo, ".ctxls.json")
	for _, test := range []struct {
		target string
		levels []int
		want   string // the start of the only problem; empty: none
	}{
		{filepath.Join("tools", "inside.json"), []int{20, 30, 40}, ""},
		{filepath.Join("..", "outside.json"), []int{50, 70, 85}, "cannot be read: a symbolic link that cannot be followed within its directory: "},
		{outside, []int{50, 70, 85}, "cannot be read: a symbolic link that cannot be followed within its directory: "},
		{"nowhere.json", []int{50, 70, 85}, "cannot be read: a symbolic link that cannot be followed within its directory: "},
		{".ctxls.json", []int{50, 70, 85}, "cannot be read: a symbolic link that cannot be followed within its directory: "},
	} {
		symlink(t, test.target, link)
		got, problems := load(t, repo, config.Sources{CWD: repo})
		if diff := cmp.Diff(test.levels, got); diff != "" {
			t.Errorf("link to %s: levels (-want +got):\n%s", test.target, diff)
		}
		if want := ".ctxls.json: " + test.want; (problems == "") != (test.want == "") || problems != "" && !strings.HasPrefix(problems, want) {
			t.Errorf("link to %s: problems: %q, want %q", test.target, problems, want)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	user, workspace, missing := filepath.Join(dir, "any.json"), filepath.Join(dir, ".ctxls.json"), filepath.Join(dir, "missing.json")
	text := "\ufeff{\"log\": {},\r\n\"levels\": [3, 2, 1]}"
	writeString(t, user, text)
	writeString(t, workspace, text)
	for path, want := range map[string][]config.Problem{
		user: {{File: user, Line: 2, Column: 1, Key: "levels", Message: "[3,2,1]: want three rising percentages, like [50,70,85]"}},
		workspace: {
			{File: workspace, Line: 1, Column: 2, Key: "log", Message: "ignored: a workspace may set only levels, trim, window", Warning: true},
			{File: workspace, Line: 2, Column: 1, Key: "levels", Message: "[3,2,1]: want three rising percentages, like [50,70,85]"},
		},
		missing: {{File: missing, Message: "no such file"}},
	} {
		if diff := cmp.Diff(want, config.CheckFile(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("this system does not let us make symbolic links: %v", err)
	}
}

package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/config"
)

// A server loads the settings of a directory repeatedly, while users edit them.
func TestLoader(t *testing.T) {
	home := t.TempDir()
	user, repo := filepath.Join(home, "config.json"), filepath.Join(home, "repo")
	mkdir(t, repo)
	workspace := filepath.Join(repo, ".ctxls.json")
	loader := config.NewLoader(config.Sources{UserFile: user, Home: home})

	expect := func(step string, cwd string, want ...int) {
		t.Helper()
		got, problems := loader.For(cwd)
		if diff := cmp.Diff(want, got.Levels); diff != "" || len(problems) > 0 {
			t.Errorf("%s: levels (-want +got):\n%s\nproblems: %v", step, diff, problems)
		}
	}
	expect("nothing set", repo, 50, 70, 85)
	expect("nothing set, again", repo, 50, 70, 85)

	writeString(t, user, `{"levels": [10, 20, 30]}`)
	expect("the user's file appears", repo, 10, 20, 30)
	writeString(t, workspace, `{"levels": [20, 30, 40]}`)
	expect("the workspace's file appears", repo, 20, 30, 40)
	expect("in another directory it does not count", home, 10, 20, 30)

	now, old := time.Now(), time.Now().Add(-time.Hour)
	age(t, user, old) // so that it is cached, and only the workspace's file changes below
	age(t, workspace, now)
	expect("written just now", repo, 20, 30, 40)
	writeString(t, workspace, `{"levels": [21, 31, 41]}`)
	age(t, workspace, now)
	expect("rewritten within a tick of the file system's clock", repo, 21, 31, 41)
	age(t, workspace, old)
	expect("its time alone changed", repo, 21, 31, 41)
	writeString(t, filepath.Join(repo, "new"), `{"levels": [22, 32, 42]}`)
	age(t, filepath.Join(repo, "new"), old)
	if err := os.Rename(filepath.Join(repo, "new"), workspace); err != nil {
		t.Fatal(err)
	}
	expect("replaced by one of the same size and time", repo, 22, 32, 42)

	if problems := loader.SetClient(config.Overlay{Name: "client", JSON: []byte(`{"levels": [30, 40, 50]}`)}); problems != nil {
		t.Errorf("the editor's settings: %v", problems)
	}
	expect("the editor has its say", repo, 30, 40, 50)
	if problems := loader.SetClient(config.Overlay{Name: "client", JSON: []byte(`{"levels": 3}`)}); len(problems) != 1 {
		t.Errorf("the editor's settings are wrong, and these are the problems: %v", problems)
	}
	if problems := loader.SetClient(config.Overlay{}); problems != nil {
		t.Errorf("no settings of the editor: %v", problems)
	}
	expect("the editor takes it back", repo, 22, 32, 42)

	if err := os.Remove(workspace); err != nil {
		t.Fatal(err)
	}
	expect("the workspace's file goes", repo, 10, 20, 30)
}

// Problems are reported when a file is read, and again only after it changes.
func TestLoaderReportsOnce(t *testing.T) {
	home := t.TempDir()
	user := filepath.Join(home, "config.json")
	writeString(t, user, `{"levels": 1}`)
	age(t, user, time.Now().Add(-time.Hour))
	loader := config.NewLoader(config.Sources{UserFile: user, Home: home})
	for i, want := range []int{1, 0, 0} {
		if _, problems := loader.For(home); len(problems) != want {
			t.Errorf("time %d: %d problems, want %d: %v", i+1, len(problems), want, problems)
		}
	}
	age(t, user, time.Now().Add(-time.Minute))
	if _, problems := loader.For(home); len(problems) != 1 {
		t.Errorf("after the file was touched: %d problems, want 1", len(problems))
	}
}

// More directories than a Loader caches, from many goroutines (for the race detector).
func TestLoaderManyDirectories(t *testing.T) {
	home := t.TempDir()
	writeString(t, filepath.Join(home, ".ctxls.json"), levels)
	loader := config.NewLoader(config.Sources{Home: home})
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 300 {
				got, problems := loader.For(filepath.Join(home, fmt.Sprintf("d%d", i*(worker+1))))
				if got.Levels[0] != 20 || problems != nil {
					t.Errorf("directory %d: levels %v, problems %v", i, got.Levels, problems)
				}
			}
			loader.SetClient(config.Overlay{})
		})
	}
	wg.Wait()
}

func age(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

package rpctest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// Update is the flag -update of a test.
var Update = flag.Bool("update", false, "rewrite the server's side of testdata/*.txtar with what it says now")

// Transcripts returns the files that patterns match. Each pattern must match one.
func Transcripts(t testing.TB, patterns ...string) (files []string) {
	t.Helper()
	for _, pattern := range patterns {
		more, err := filepath.Glob(pattern)
		if err != nil || len(more) == 0 {
			t.Fatalf("no transcripts %s: %v", pattern, err)
		}
		files = append(files, more...)
	}
	return files
}

// Play runs a subtest for each transcript. play gets the file's path and its sections, and returns what the server said. That must
// be the section server, which -update rewrites.
func Play(t *testing.T, files []string, play func(t *testing.T, file string, archive *txtar.Archive) string) {
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			server := Section(archive, "server")
			if server == nil || Section(archive, "client") == nil {
				t.Fatalf("%s: want the sections client and server", file)
			}
			got := play(t, file, archive)
			if *Update {
				server.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want := string(server.Data)
			if runtime.GOOS == "windows" {
				want = directories.ReplaceAllStringFunc(want, func(dir string) string { return strings.ReplaceAll(dir, "/", `\\`) })
			}
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("the server said (-want +got):\n%s", diff)
			}
		})
	}
}

// Section returns the section of that name, or nil.
func Section(archive *txtar.Archive, name string) *txtar.File {
	for i := range archive.Files {
		if archive.Files[i].Name == name {
			return &archive.Files[i]
		}
	}
	return nil
}

// directories are those of sessions, which a server on Windows returns as Windows spells them.
var directories = regexp.MustCompile(`"cwd":"[^"]*"`)

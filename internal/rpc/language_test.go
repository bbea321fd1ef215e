package rpc

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ctxls/ctxls/internal/audit"
	"github.com/ctxls/ctxls/internal/contextfiles"
	"github.com/ctxls/ctxls/internal/lsp"
)

// rooted is the file system below a directory, presented as the whole file system. The length of a path counts, since
// models get paths.
type rooted struct {
	contextfiles.Disk
	Dir string
}

func (r rooted) Stat(name string) (fs.FileInfo, error) {
	return r.Disk.Stat(filepath.Join(r.Dir, name))
}

func (r rooted) Lstat(name string) (fs.FileInfo, error) {
	return r.Disk.Lstat(filepath.Join(r.Dir, name))
}

func (r rooted) ReadDir(name string) ([]fs.DirEntry, error) {
	return r.Disk.ReadDir(filepath.Join(r.Dir, name))
}

func (r rooted) ReadFile(name string, limit int64) ([]byte, error) {
	return r.Disk.ReadFile(filepath.Join(r.Dir, name), limit)
}

func (r rooted) Resolve(name string) (string, error) {
	_, err := r.Stat(name)
	return name, err
}

// languageOptions returns options for documents, on a file system whose home is /home.
func languageOptions(files contextfiles.FS) Options {
	getenv := func(string) string { return "" }
	return Options{
		Language: func(folders func() []string) *lsp.Service {
			return lsp.New(lsp.Options{Home: "/home", Getenv: getenv, Files: files, Folders: folders})
		},
		Audit: func(dir string) audit.Options {
			env := contextfiles.Env{Files: contextfiles.NewReader(files), Home: "/home", Dir: dir, Getenv: getenv}
			return audit.Options{Env: env, Hosts: contextfiles.Installed(env)}
		},
	}
}

// TestLanguage plays testdata/language/*.txtar. The files of an archive are the file system of a language server, and
// its client sends the recorded messages.
func TestLanguage(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths of the transcripts are those of other systems")
	}
	files, err := filepath.Glob("testdata/language/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			talk := &txtar.Archive{Comment: archive.Comment}
			var server *txtar.File
			for i, f := range archive.Files {
				switch f.Name {
				case "client":
					talk.Files = append(talk.Files, txtar.File{Name: f.Name, Data: f.Data})
				case "server":
					server = &archive.Files[i]
				default:
					path := filepath.Join(dir, f.Name)
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, f.Data, 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			options := languageOptions(rooted{Dir: dir})
			options.Service, options.Configure = newConfiguredService(t)
			got := play(t, talk, options)
			if *update {
				server.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(server.Data), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("the server said (-want +got):\n%s", diff)
			}
		})
	}
}

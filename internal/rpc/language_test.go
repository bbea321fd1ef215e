package rpc

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ctxls/ctxls/internal/audit"
	"github.com/ctxls/ctxls/internal/contextfiles"
	"github.com/ctxls/ctxls/internal/lsp"
	"github.com/ctxls/ctxls/internal/rpc/rpctest"
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
	files := rpctest.Transcripts(t, "testdata/language/*.txtar")
	rpctest.Play(t, files, func(t *testing.T, _ string, archive *txtar.Archive) string {
		dir := t.TempDir()
		for _, f := range archive.Files {
			if f.Name == "client" || f.Name == "server" {
				continue
			}
			path := filepath.Join(dir, f.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		options := languageOptions(rooted{Dir: dir})
		options.Service, options.Configure = newConfiguredService(t)
		return play(t, archive, options)
	})
}

//go:build linux && e2e

package opencode

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// The package, which OpenCode itself installs from a registry because its settings name it, does what the installed file does.
func TestPackage(t *testing.T) {
	t.Parallel()
	w := newTestEnv(t, scripts{"more": more})
	w.Env = append(w.Env, "npm_config_registry="+publish(w, "../../adapters/opencode")) // in the place of the one without packages
	w.configure("anthropic", "@ai-sdk/anthropic", w.model.URL+"/v1", `, "plugin": ["opencode-ctxls"]`)
	w.serve()
	session := w.session("package")
	w.prompt(session, "[[more]] go")
	w.wantTokens(session, 144_000+e2e.OutputTokens)
	w.prompt(session, "[[more]] go on")
	if got, want := said(w.model.Last("more")), "[context used: 72%]"; !slices.Contains(got, want) {
		t.Errorf("ctxls said %q, want %q among it", got, want)
	}
}

// publish packs the package in a directory, and returns the address of a registry that has it and nothing else.
func publish(w *testEnv, dir string) string {
	w.T.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		w.T.Fatal(err)
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		w.T.Fatal(err)
	}
	pack := w.Command(w.T.Context(), npm, "pack", "--json", "--pack-destination", w.Temp(), dir)
	out, err := pack.Output()
	if err != nil {
		w.T.Fatalf("npm pack: %v", err)
	}
	var packed []struct {
		Name, Version, Filename string
		Files                   []struct{ Path string }
	}
	if err := json.Unmarshal(out, &packed); err != nil || len(packed) != 1 {
		w.T.Fatalf("npm pack printed %s: %v", out, err)
	}
	p := packed[0]
	var files []string
	for _, f := range p.Files {
		files = append(files, f.Path)
	}
	if got, want := strings.Join(files, " "), "README.md ctxls.js package.json"; got != want {
		w.T.Errorf("the package holds %s, want %s", got, want)
	}
	tarball, err := os.ReadFile(filepath.Join(w.Temp(), p.Filename))
	if err != nil {
		w.T.Fatal(err)
	}
	sum := sha512.Sum512(tarball)
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/" + p.Name:
			_ = json.NewEncoder(out).Encode(map[string]any{
				"name": p.Name, "dist-tags": map[string]string{"latest": p.Version},
				"versions": map[string]any{p.Version: map[string]any{
					"name": p.Name, "version": p.Version,
					"dist": map[string]string{"tarball": server.URL + "/" + p.Filename, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])},
				}},
			})
		case "/" + p.Filename:
			_, _ = out.Write(tarball)
		default:
			http.NotFound(out, r)
		}
	}))
	w.T.Cleanup(server.Close)
	return server.URL + "/"
}

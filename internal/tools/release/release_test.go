package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A release is built for this system, served, and installed by the script; then one is tampered with.
func TestAReleaseInstallsItself(t *testing.T) {
	if testing.Short() {
		t.Skip("the same again: this runs whole without -short")
	}
	if !slices.Contains([]string{"linux", "darwin"}, runtime.GOOS) {
		t.Skip("install.sh is for Linux and macOS")
	}
	t.Chdir("../../..")
	out, home := t.TempDir(), t.TempDir()
	if err := run("v1.2.3-test", out, []string{runtime.GOOS + "/" + runtime.GOARCH}); err != nil {
		t.Fatal(err)
	}
	again := t.TempDir()
	if err := run("v1.2.3-test", again, []string{runtime.GOOS + "/" + runtime.GOARCH}); err != nil {
		t.Fatal(err)
	}
	if first, second := read(t, out), read(t, again); first != second {
		t.Errorf("two releases of one commit differ:\n%s%s", first, second)
	}
	served := httptest.NewServer(http.FileServer(http.Dir(out)))
	defer served.Close()
	program := filepath.Join(home, ".local", "bin", "ctxls")
	install := func(args ...string) (string, error) {
		cmd := exec.Command("sh", append([]string{"install.sh"}, args...)...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		said, err := cmd.CombinedOutput()
		return string(said), err
	}
	for _, from := range []string{served.URL, out} {
		said, err := install("--from", from)
		if err != nil || !strings.Contains(said, "ctxls v1.2.3-test") || !strings.Contains(said, "Put "+filepath.Dir(program)+" on your PATH.") {
			t.Fatalf("from %s: %v\n%s", from, err, said)
		}
		if err := os.Remove(program); err != nil {
			t.Fatal(err)
		}
	}

	archives, err := filepath.Glob(filepath.Join(out, "*.tar.gz"))
	if err != nil || len(archives) != 1 {
		t.Fatal(archives, err)
	}
	data, err := os.ReadFile(archives[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(archives[0], append(data, 0), 0o644); err != nil {
		t.Fatal(err)
	}
	if said, err := install("--from", out); err == nil || !strings.Contains(said, "is not what checksums.txt says") {
		t.Errorf("a tampered archive: %v\n%s", err, said)
	}
	if said, err := install("--from", t.TempDir()); err == nil || !strings.Contains(said, "no checksums.txt in") {
		t.Errorf("no release: %v\n%s", err, said)
	}
	if said, err := install("--frm", out); err == nil || !strings.Contains(said, "no option --frm") {
		t.Errorf("a mistyped option: %v\n%s", err, said)
	}
	if _, err := os.Stat(program); err == nil {
		t.Error("something was installed all the same")
	}
}

func read(t *testing.T, dir string) string {
	t.Helper()
	sums, err := os.ReadFile(filepath.Join(dir, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(sums)
}

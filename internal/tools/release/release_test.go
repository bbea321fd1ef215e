package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A release is built for this system in two copies of the tree, served, and installed by the script; then one is tampered with.
func TestAReleaseInstallsItself(t *testing.T) {
	if testing.Short() {
		t.Skip("the same again: this runs whole without -short")
	}
	if !slices.Contains([]string{"linux", "darwin"}, runtime.GOOS) {
		t.Skip("install.sh is for Linux and macOS")
	}
	t.Chdir("../../..")
	if _, err := os.Stat(".git"); err != nil {
		t.Skip("a release is made of a clone: ", err)
	}
	for name, value := range map[string]string{"COUNT": "1", "KEY_0": "safe.directory", "VALUE_0": "*"} { // whoever owns it
		t.Setenv("GIT_CONFIG_"+name, value)
	}
	vsix := true
	if _, err := exec.LookPath("npm"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Error("without the extension for VS Code:", err)
		}
		vsix = false
	}
	const version = "v1.2.3-test"
	here := runtime.GOOS + "/" + runtime.GOARCH
	home, out := t.TempDir(), t.TempDir()
	stale := filepath.Join(out, "ctxls-vax-vms.vsix") // of an earlier release
	if err := os.WriteFile(stale, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tree, _ := os.Getwd()
	modules := filepath.Join(tree, extension)
	var sums []string
	for i, dir := range []string{out, t.TempDir()} {
		t.Chdir(copyOf(t, tree, modules, version))
		if i == 1 { // a machine with other habits
			t.Setenv("TZ", "Pacific/Auckland")
			if err := os.Chmod(filepath.Join(extension, "media/icon.png"), 0o664); err != nil {
				t.Fatal(err)
			}
		}
		if err := run(version, dir, []string{here}, vsix); err != nil {
			t.Fatal(err)
		}
		if vsix && i == 0 {
			modules, _ = filepath.Abs(extension) // installed once
		}
		sums = append(sums, read(t, dir))
	}
	if sums[0] != sums[1] {
		t.Errorf("two releases of one commit differ:\n%s%s", sums[0], sums[1])
	}
	archive := "ctxls_" + strings.ReplaceAll(here, "/", "_") + ".tar.gz"
	names := []string{archive}
	if vsix {
		names = []string{"ctxls-" + vscodeTarget.Replace(here) + ".vsix", archive}
	}
	if diff := cmp.Diff(names, fields(sums[0], 1)); diff != "" {
		t.Errorf("checksums.txt names (-want +got):\n%s", diff)
	}
	inside := exec.Command("tar", "-tzf", filepath.Join(out, archive))
	listed, err := inside.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ctxls", "THIRD_PARTY_LICENSES.txt", "README.md", "CHANGELOG.md", "LICENSE", "completions/ctxls.bash", "completions/ctxls.fish", "completions/_ctxls"}
	if diff := cmp.Diff(want, strings.Fields(string(listed))); diff != "" {
		t.Errorf("the archive holds (-want +got):\n%s", diff)
	}
	if vsix {
		checkVSIX(t, filepath.Join(out, names[0]), version)
	}
	t.Chdir(tree)
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
	// Without a HOME, and to a directory that is named from here.
	bare := exec.Command("sh", filepath.Join(tree, "install.sh"), "--from", out, "--dir", "programs")
	bare.Dir, bare.Env = home, []string{"PATH=" + os.Getenv("PATH")}
	said, err := bare.CombinedOutput()
	if err != nil || !regexp.MustCompile(`\nPut /.*/programs on your PATH\.\n`).Match(said) {
		t.Errorf("--dir without HOME: %v\n%s", err, said)
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

var versionMember = regexp.MustCompile(`"version": "[^"]+"`)

// copyOf returns a copy of the tree, with what npm installed in modules, in which the extension has the version of a release.
func copyOf(t *testing.T, tree, modules, version string) string {
	t.Helper()
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = tree
		said, err := cmd.Output()
		if err != nil {
			t.Fatal("git", args, err)
		}
		return strings.TrimSpace(string(said))
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.Trim(git("ls-files", "-z", "-co", "--exclude-standard"), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(tree, name))
		if err != nil || !info.Mode().IsRegular() || strings.Contains(name, "testdata/") {
			continue // removed, and not yet for git
		}
		data, err := os.ReadFile(filepath.Join(tree, name))
		if err != nil {
			t.Fatal(err)
		}
		switch name {
		case extension + "/package.json", extension + "/package-lock.json":
			at := versionMember.FindIndex(data) // the first is its own
			data = slices.Concat(data[:at[0]], []byte(`"version": "`+version[1:]+`"`), data[at[1]:])
		}
		to := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, info.Mode()), os.Chtimes(to, info.ModTime(), info.ModTime())); err != nil {
			t.Fatal(err)
		}
	}
	if installed(modules) {
		if err := os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, extension, "node_modules")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: "+git("rev-parse", "--absolute-git-dir")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// checkVSIX looks whether the extension has the program of the release, which can be run, and the licences of all that is in it.
func checkVSIX(t *testing.T, path, version string) {
	t.Helper()
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Open("extension/LICENSE.txt"); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{
		"extension/server/ctxls":                  version,
		"extension/dist/THIRD_PARTY_LICENSES.txt": "vscode-languageclient ",
		"extension.vsixmanifest":                  `Version="` + version[1:] + `"`,
	} {
		f, err := r.Open(name)
		if err != nil {
			t.Error(err)
			continue
		}
		data, err := io.ReadAll(f)
		if err != nil || !bytes.Contains(data, []byte(want)) {
			t.Errorf("%s of %d bytes is without %q: %v", name, len(data), want, err)
		}
		if info, _ := f.Stat(); name == "extension/server/ctxls" && info.Mode().Perm() != 0o755 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}

// What a release cannot be made of is said, with what to do.
func TestNoReleaseWithoutTheExtension(t *testing.T) {
	t.Chdir("../../..")
	if _, err := exec.LookPath("npm"); err == nil {
		err := run("v9.9.9", t.TempDir(), nil, true)
		if err == nil || !strings.Contains(err.Error(), "this is version v9.9.9, and editors/vscode/package.json has ") {
			t.Errorf("another version: %v", err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if err := run("v1.2.3", t.TempDir(), nil, true); err == nil || !strings.Contains(err.Error(), "there is no node here") || !strings.Contains(err.Error(), "-no-vsix") {
		t.Errorf("without Node: %v", err)
	}
}

// fields returns one field of each line.
func fields(text string, n int) (found []string) {
	for line := range strings.Lines(text) {
		found = append(found, strings.Fields(line)[n])
	}
	return found
}

func read(t *testing.T, dir string) string {
	t.Helper()
	sums, err := os.ReadFile(filepath.Join(dir, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(sums)
}

// Release builds what people download: one archive a system with the binary, its documents, completions for shells and the licences of
// what it is made of; the extension for VS Code, one package a system with the same binary inside; a file of checksums; and what describes
// all that to Homebrew, Scoop and winget. Made twice from one commit, the bytes are the same.
//
//	go run ./internal/tools/release -version v1.2.3 -out dist
//
// The extension needs Node and npm. Without them, and where it has another version than the release, there is no release but with
// -no-vsix, which leaves it out.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// targets are the systems that ctxls is released for, in Go's words.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// documents go into every archive as they lie in the tree.
var documents = []string{"README.md", "CHANGELOG.md", "LICENSE"}

// completions are the shells that ctxls has completions for, and where an archive has them.
var completions = map[string]string{"bash": "completions/ctxls.bash", "zsh": "completions/_ctxls", "fish": "completions/ctxls.fish"}

// extension is the directory of the one for VS Code.
const extension = "editors/vscode"

func main() {
	version := flag.String("version", "", "the release's `version`; from git describe where it is not given")
	out := flag.String("out", "dist", "the `directory` to write to; what an earlier release left there goes")
	only := flag.String("only", strings.Join(targets, ","), "the `systems` to build for, in a list with commas")
	noVSIX := flag.Bool("no-vsix", false, "leave out the extension for VS Code")
	flag.Parse()
	if err := run(*version, *out, strings.Split(*only, ","), !*noVSIX); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(version, out string, targets []string, vsix bool) error {
	if version == "" {
		described, err := output("git", "describe", "--tags", "--always", "--dirty")
		if err != nil {
			return err
		}
		version = described
	}
	if vsix {
		if err := checkExtension(version); err != nil {
			return err // before anything was built
		}
	} else {
		fmt.Fprintln(os.Stderr, "release: THE EXTENSION FOR VS CODE IS LEFT OUT, as -no-vsix says: there are no .vsix files")
	}
	seconds, err := output("git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	committed, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}
	r := release{version: version, at: time.Unix(committed, 0).UTC()}
	if r.programs, err = os.MkdirTemp("", "ctxls-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.programs)
	if err := r.collect(); err != nil {
		return err
	}
	if err := clear(out); err != nil {
		return err
	}
	for _, target := range targets {
		name, data, err := r.build(target)
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil {
			return err
		}
	}
	if vsix {
		if err := r.extend(out, targets); err != nil {
			return fmt.Errorf("the extension for VS Code: %w", err)
		}
	}
	if err := sum(out); err != nil {
		return err
	}
	return r.describe(out)
}

// made matches what a release consists of.
var made = []string{"ctxls_*.tar.gz", "ctxls_*.zip", "ctxls-*.vsix", "checksums.txt"}

// files returns what of a release is in the directory, by name.
func files(out string) (paths []string, err error) {
	for _, pattern := range made {
		found, err := filepath.Glob(filepath.Join(out, pattern))
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	return paths, nil
}

// clear makes the directory, without a release in it.
func clear(out string) error {
	old, err := files(out)
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return os.MkdirAll(out, 0o755)
}

// sum writes the checksums of a release.
func sum(out string) error {
	paths, err := files(out)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), filepath.Base(path))
		fmt.Printf("%s  %.1f MB\n", path, float64(len(data))/1e6)
	}
	return os.WriteFile(filepath.Join(out, "checksums.txt"), sums.Bytes(), 0o644)
}

// checkExtension says why the extension cannot be a part of a release.
func checkExtension(version string) error {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("there is no %s here, which the extension for VS Code is made with; install it, or leave the .vsix files out with -no-vsix", program)
		}
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		var manifest struct{ Version string }
		text, err := os.ReadFile(filepath.Join(extension, name))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &manifest); err != nil {
			return fmt.Errorf("%s/%s: %w", extension, name, err)
		}
		if "v"+manifest.Version != version {
			return fmt.Errorf("this is version %s, and %s/%s has %s: a release wants v%[4]s (VERSION=v%[4]s), or that file the version of the release; -no-vsix leaves the .vsix files out",
				version, extension, name, manifest.Version)
		}
	}
	return nil
}

// output runs a program and returns what it prints, trimmed.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// release is one version on its way into archives.
type release struct {
	version  string
	at       time.Time
	programs string // where they are built, each in GOOS_GOARCH/
	common   []file // of all archives
}

// collect reads and makes what every archive has beside the program.
func (r *release) collect() error {
	licences, err := output("go", "run", "./internal/tools/licenses", "-texts")
	if err != nil {
		return err
	}
	r.common = []file{{"THIRD_PARTY_LICENSES.txt", 0o644, []byte(licences + "\n")}}
	for _, name := range documents {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		r.common = append(r.common, file{name, 0o644, text})
	}
	for _, shell := range []string{"bash", "fish", "zsh"} {
		script, err := output("go", "run", "./cmd/ctxls", "completion", shell)
		if err != nil {
			return err
		}
		r.common = append(r.common, file{completions[shell], 0o644, []byte(script + "\n")})
	}
	return nil
}

// extend makes the packages of the extension, each with the program that is in the archive.
func (r release) extend(out string, targets []string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	args := []string{"scripts/package.mjs", "--programs", r.programs, "--out", out}
	for _, target := range targets {
		args = append(args, vscodeTarget.Replace(target))
	}
	commands := [][]string{append([]string{"node"}, args...)}
	if !installed(extension) {
		commands = slices.Insert(commands, 0, []string{"npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"})
	}
	for _, command := range commands {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = extension
		cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.at.Unix()))
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", command[0], err, said)
		}
	}
	return nil
}

// installed reports whether npm has put in place what the lock file in a directory says, by the same signs as make.
func installed(dir string) bool {
	lock, err := os.Stat(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return false
	}
	done, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json"))
	return err == nil && !done.ModTime().Before(lock.ModTime())
}

// vscodeTarget turns a system into VS Code's word for it.
var vscodeTarget = strings.NewReplacer("/", "-", "amd64", "x64", "windows", "win32")

// build returns the archive for one system and its file name, and leaves its program in r.programs.
func (r release) build(target string) (name string, data []byte, err error) {
	system, arch, ok := strings.Cut(target, "/")
	if !ok {
		return "", nil, errors.New("want a system such as linux/amd64")
	}
	dir := filepath.Join(r.programs, system+"_"+arch)
	binaries := []string{"ctxls"}
	if system == "windows" { // where few have Go, by which others get the second
		binaries = []string{"ctxls.exe", "ctxls-fleet.exe"}
	}
	var files []file
	for _, binary := range binaries {
		source := "./cmd/" + strings.TrimSuffix(binary, ".exe")
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+r.version, "-o", filepath.Join(dir, binary), source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
		if out, err := build.CombinedOutput(); err != nil {
			return "", nil, fmt.Errorf("go build: %w\n%s", err, out)
		}
		program, err := os.ReadFile(filepath.Join(dir, binary))
		if err != nil {
			return "", nil, err
		}
		files = append(files, file{binary, 0o755, program})
	}
	if system == "windows" {
		licences, err := output("go", "run", "./internal/tools/licenses", "-texts", "-program", "./cmd/ctxls-fleet")
		if err != nil {
			return "", nil, err
		}
		files = append(files, file{"THIRD_PARTY_LICENSES_ctxls-fleet.txt", 0o644, []byte(licences + "\n")})
	}
	files = append(files, r.common...)
	name = fmt.Sprintf("ctxls_%s_%s", system, arch)
	var archive bytes.Buffer
	if system == "windows" {
		name += ".zip"
		err = r.zip(&archive, files)
	} else {
		name += ".tar.gz"
		err = r.tar(&archive, files)
	}
	return name, archive.Bytes(), err
}

// file is one of an archive.
type file struct {
	name string
	mode int64
	data []byte
}

func (r release) tar(w io.Writer, files []file) error {
	zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		if err := archive.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: r.at, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		if _, err := archive.Write(f.data); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

func (r release) zip(w io.Writer, files []file) error {
	archive := zip.NewWriter(w)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.at}
		header.SetMode(os.FileMode(f.mode))
		part, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := part.Write(f.data); err != nil {
			return err
		}
	}
	return archive.Close()
}

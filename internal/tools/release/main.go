// Release builds what people download: one archive a system with the binary, its documents and the licences of what it is made
// of, and a file of checksums. Made twice from one commit, the bytes are the same.
//
//	go run ./internal/tools/release -version v1.2.3 -out dist
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// targets are the systems that ctxls is released for, in Go's words.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// documents go into every archive as they lie in the tree.
var documents = []string{"README.md", "CHANGELOG.md", "LICENSE"}

func main() {
	version := flag.String("version", "", "the release's `version`; from git describe where it is not given")
	out := flag.String("out", "dist", "the `directory` to write to")
	only := flag.String("only", strings.Join(targets, ","), "the `systems` to build for, in a list with commas")
	flag.Parse()
	if err := run(*version, *out, strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(version, out string, targets []string) error {
	if version == "" {
		described, err := output("git", "describe", "--tags", "--always", "--dirty")
		if err != nil {
			return err
		}
		version = described
	}
	seconds, err := output("git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	committed, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}
	licences, err := output("go", "run", "./internal/tools/licenses", "-texts")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, target := range targets {
		r := release{version: version, at: time.Unix(committed, 0).UTC(), licences: licences}
		name, data, err := r.build(target)
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), name)
		fmt.Printf("%s  %.1f MB\n", filepath.Join(out, name), float64(len(data))/1e6)
	}
	return os.WriteFile(filepath.Join(out, "checksums.txt"), sums.Bytes(), 0o644)
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
	licences string
}

// build returns the archive for one system and its file name.
func (r release) build(target string) (name string, data []byte, err error) {
	system, arch, ok := strings.Cut(target, "/")
	if !ok {
		return "", nil, errors.New("want a system such as linux/amd64")
	}
	dir, err := os.MkdirTemp("", "ctxls-release-")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(dir)
	binary := "ctxls"
	if system == "windows" {
		binary += ".exe"
	}
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+r.version, "-o", filepath.Join(dir, binary), "./cmd/ctxls")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	if out, err := build.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	program, err := os.ReadFile(filepath.Join(dir, binary))
	if err != nil {
		return "", nil, err
	}
	files := []file{{binary, 0o755, program}, {"THIRD_PARTY_LICENSES.txt", 0o644, []byte(r.licences + "\n")}}
	for _, name := range documents {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", nil, err
		}
		files = append(files, file{name, 0o644, text})
	}
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

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// packages are the descriptions of a release for package managers, by the file that each is written to. Each names archives of the
// release with their checksums. One is left out where none of the archives that it is for was built.
var packages = []struct{ file, archives, text string }{
	// https://docs.brew.sh/Formula-Cookbook
	{"ctxls.rb", "*.tar.gz", `class Ctxls < Formula
  desc "{{.Summary}}"
  homepage "{{.Home}}"
  version "{{.Version}}"
  license "MIT"
{{range $system, $name := .Homebrew}}{{with index $.Sums $name}}
  if {{$system}}
    url "{{$.Downloads}}/{{$name}}"
    sha256 "{{.}}"
  end
{{end}}{{end}}
  def install
    bin.install "ctxls"
    bash_completion.install "completions/ctxls.bash" => "ctxls"
    zsh_completion.install "completions/_ctxls"
    fish_completion.install "completions/ctxls.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/ctxls version")
  end
end
`},
	// https://github.com/ScoopInstaller/Scoop/wiki/App-Manifests
	{"ctxls.json", "*windows*.zip", `{
    "version": "{{.Version}}",
    "description": "{{.Summary}}",
    "homepage": "{{.Home}}",
    "license": "MIT",
    "architecture": {
{{- $first := true}}{{range $arch, $name := .Scoop}}{{with index $.Sums $name}}
{{- if not $first}},{{end}}{{$first = false}}
        "{{$arch}}": {
            "url": "{{$.Downloads}}/{{$name}}",
            "hash": "{{.}}"
        }
{{- end}}{{end}}
    },
    "bin": ["ctxls.exe", "ctxls-fleet.exe"],
    "checkver": "github",
    "autoupdate": {
        "architecture": {
            "64bit": {"url": "{{.Home}}/releases/download/v$version/ctxls_windows_amd64.zip"},
            "arm64": {"url": "{{.Home}}/releases/download/v$version/ctxls_windows_arm64.zip"}
        }
    }
}
`},
	// https://learn.microsoft.com/windows/package-manager/package/manifest: three files
	{"ctxls.ctxls.yaml", "*windows*.zip", `# yaml-language-server: $schema=https://aka.ms/winget-manifest.version.1.6.0.schema.json
PackageIdentifier: ctxls.ctxls
PackageVersion: {{.Version}}
DefaultLocale: en-US
ManifestType: version
ManifestVersion: 1.6.0
`},
	{"ctxls.ctxls.installer.yaml", "*windows*.zip", `# yaml-language-server: $schema=https://aka.ms/winget-manifest.installer.1.6.0.schema.json
PackageIdentifier: ctxls.ctxls
PackageVersion: {{.Version}}
InstallerType: zip
NestedInstallerType: portable
NestedInstallerFiles:
- RelativeFilePath: ctxls.exe
  PortableCommandAlias: ctxls
- RelativeFilePath: ctxls-fleet.exe
  PortableCommandAlias: ctxls-fleet
ReleaseDate: {{.Date}}
Installers:
{{- range $arch, $name := .Winget}}{{with index $.Sums $name}}
- Architecture: {{$arch}}
  InstallerUrl: {{$.Downloads}}/{{$name}}
  InstallerSha256: {{. | upper}}
{{- end}}{{end}}
ManifestType: installer
ManifestVersion: 1.6.0
`},
	{"ctxls.ctxls.locale.en-US.yaml", "*windows*.zip", `# yaml-language-server: $schema=https://aka.ms/winget-manifest.defaultLocale.1.6.0.schema.json
PackageIdentifier: ctxls.ctxls
PackageVersion: {{.Version}}
PackageLocale: en-US
Publisher: ctxls
PublisherUrl: https://github.com/ctxls
PackageName: ctxls
PackageUrl: {{.Home}}
License: MIT
LicenseUrl: {{.Home}}/blob/v{{.Version}}/LICENSE
ShortDescription: {{.Summary}}
Tags:
- agents
- cli
- context-window
- language-server
ManifestType: defaultLocale
ManifestVersion: 1.6.0
`},
}

const (
	home    = "https://github.com/ctxls/ctxls"
	summary = "Language server for the context windows of coding agents"
)

// describe writes the descriptions for package managers of the archives in the directory.
func (r release) describe(out string) error {
	version := strings.TrimPrefix(r.version, "v")
	data := struct {
		Version, Date, Home, Downloads, Summary string
		Sums                                    map[string]string // by the archive's name
		Homebrew, Scoop, Winget                 map[string]string // each manager's word for a system, and the archive
	}{
		Version: version, Date: r.at.Format("2006-01-02"), Home: home, Downloads: home + "/releases/download/v" + version, Summary: summary,
		Sums: map[string]string{},
		Homebrew: map[string]string{
			"OS.mac? && Hardware::CPU.arm?": "ctxls_darwin_arm64.tar.gz", "OS.mac? && Hardware::CPU.intel?": "ctxls_darwin_amd64.tar.gz",
			"OS.linux? && Hardware::CPU.arm?": "ctxls_linux_arm64.tar.gz", "OS.linux? && Hardware::CPU.intel?": "ctxls_linux_amd64.tar.gz",
		},
		Scoop:  map[string]string{"64bit": "ctxls_windows_amd64.zip", "arm64": "ctxls_windows_arm64.zip"},
		Winget: map[string]string{"x64": "ctxls_windows_amd64.zip", "arm64": "ctxls_windows_arm64.zip"},
	}
	for _, p := range packages {
		if err := os.Remove(filepath.Join(out, p.file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		archives, err := filepath.Glob(filepath.Join(out, p.archives))
		if err != nil {
			return err
		}
		if len(archives) == 0 {
			continue
		}
		for _, path := range archives {
			archive, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data.Sums[filepath.Base(path)] = fmt.Sprintf("%x", sha256.Sum256(archive))
		}
		text, err := template.New(p.file).Funcs(template.FuncMap{"upper": strings.ToUpper}).Parse(p.text)
		if err != nil {
			return err
		}
		var written bytes.Buffer
		if err := text.Execute(&written, data); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, p.file), written.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

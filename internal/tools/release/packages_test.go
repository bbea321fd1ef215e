package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Each package manager is told of the archives of its systems, with their checksums; of what an earlier release left, nothing stays.
func TestPackages(t *testing.T) {
	out := t.TempDir()
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(out, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	describe := func() {
		t.Helper()
		if err := (release{version: "v1.2.3", at: time.Unix(1_763_719_111, 0).UTC()}).describe(out); err != nil {
			t.Fatal(err)
		}
	}
	text := func(name string) string {
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	write("ctxls_windows_amd64.zip")
	write("ctxls_windows_arm64.zip")
	write("ctxls.rb")
	describe()
	if _, err := os.Stat(filepath.Join(out, "ctxls.rb")); err == nil {
		t.Error("a formula for no archive")
	}
	var scoop struct {
		Version      string
		Architecture map[string]struct{ URL, Hash string }
		Bin          []string
	}
	if err := json.Unmarshal([]byte(text("ctxls.json")), &scoop); err != nil {
		t.Fatalf("%v in %s", err, text("ctxls.json"))
	}
	const at = "https://github.com/ctxls/ctxls/releases/download/v1.2.3/"
	if a := scoop.Architecture; len(a) != 2 || a["64bit"].URL != at+"ctxls_windows_amd64.zip" || a["64bit"].Hash == a["arm64"].Hash || len(a["arm64"].Hash) != 64 {
		t.Errorf("%+v", scoop)
	}
	if diff := cmp.Diff([]string{"ctxls.exe", "ctxls-fleet.exe"}, scoop.Bin); diff != "" || scoop.Version != "1.2.3" {
		t.Errorf("%s: %s", scoop.Version, diff)
	}
	want := fmt.Sprintf("Installers:\n- Architecture: arm64\n  InstallerUrl: %sctxls_windows_arm64.zip\n  InstallerSha256: %s\n- Architecture: x64\n  InstallerUrl: %sctxls_windows_amd64.zip\n  InstallerSha256: %s\nManifestType: installer\n",
		at, strings.ToUpper(scoop.Architecture["arm64"].Hash), at, strings.ToUpper(scoop.Architecture["64bit"].Hash))
	if got := text("ctxls.ctxls.installer.yaml"); !strings.Contains(got, want) {
		t.Errorf("winget's installer manifest:\n%s\nwant in it:\n%s", got, want)
	}
	for _, name := range []string{"ctxls.ctxls.yaml", "ctxls.ctxls.locale.en-US.yaml"} {
		if !strings.Contains(text(name), "\nPackageVersion: 1.2.3\n") {
			t.Errorf("%s:\n%s", name, text(name))
		}
	}
	write("ctxls_darwin_arm64.tar.gz")
	write("ctxls_linux_amd64.tar.gz")
	describe()
	formula := text("ctxls.rb")
	for _, want := range []string{
		"  if OS.mac? && Hardware::CPU.arm?\n    url \"" + at + "ctxls_darwin_arm64.tar.gz\"\n    sha256 \"", "  if OS.linux? && Hardware::CPU.intel?\n", `version "1.2.3"`,
	} {
		if !strings.Contains(formula, want) {
			t.Errorf("no %q in:\n%s", want, formula)
		}
	}
	if strings.Count(formula, "sha256") != 2 {
		t.Errorf("it names archives that there are not:\n%s", formula)
	}
}

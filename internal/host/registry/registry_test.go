package registry

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/codex"
)

// What install writes for a program, doctor reads back as that program, wherever it lies and however the host wants it spelled.
func TestOwnEntriesNameTheProgramThatWasInstalled(t *testing.T) {
	for _, i := range Installable() {
		for _, executable := range []string{"/usr/local/bin/ctxls", "/opt/my tools/ctxls", "/home/o'neill/ctxls", "/home/$(reboot)/ctxls", "C:/Program Files/ctxls/ctxls.exe", "C:/o'neill/ctxls.exe", "C:/bin/ctxls.exe"} {
			text, _, err := i.Installer.Install("settings", nil, executable, false)
			if err != nil {
				t.Fatal(err)
			}
			own := i.Installer.Installed(text)
			if want := max(len(i.Installer.Profile().Events), 1); len(own) != want {
				t.Errorf("%s, %s: %d entries, want %d", i.Name, executable, len(own), want)
			}
			for _, o := range own {
				got := o.Program
				if executable[0] != '/' {
					got = strings.ReplaceAll(got, `\`, "/")
				}
				if got != executable {
					t.Errorf("%s: %s runs %q, want %q", i.Name, o.Place, got, executable)
				}
			}
			if foreign := i.Installer.Installed([]byte(`{"hooks": {"Stop": [{"hooks": [{"command": "ctxls-like hook ` + string(i.Name) + `"}]}, 7], "Other": 7}}`)); len(foreign) > 0 {
				t.Errorf("%s: %+v is nobody's", i.Name, foreign)
			}
		}
	}
	if own := codex.Host.Installer.Installed([]byte(`{"hooks": {"Stop": [{}, {"hooks": [{"command": "true"}, {"command": "CTXLS_LOG_LEVEL=debug /elsewhere/ctxls hook codex"}]}]}}`)); len(own) != 1 ||
		own[0].Program != "/elsewhere/ctxls" || own[0].Group != 1 || own[0].Index != 1 {
		t.Errorf("an amended line: %+v", own)
	}
}

// What hosts can install by themselves registers the hooks that install does, with ctxls looked up on the PATH; and it has the version of
// everything else.
func TestPluginsAreWhatInstallDoes(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	want := version(t, filepath.Join(root, "editors", "vscode", "package.json"))
	for host, manifest := range map[session.Host]string{
		session.HostClaudeCode: ".claude-plugin/plugin.json", session.HostCodex: ".codex-plugin/plugin.json", session.HostGeminiCLI: "gemini-extension.json",
	} {
		plugin := filepath.Join(root, "adapters", string(host))
		if got := version(t, filepath.Join(plugin, manifest)); got != want {
			t.Errorf("%s has version %s, the extension for VS Code %s", host, got, want)
		}
		h, _ := Find(host)
		installed, _, err := h.Installer.Install("hooks.json", nil, "ctxls", false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(installed), read(t, filepath.Join(plugin, "hooks", "hooks.json"))); diff != "" {
			t.Errorf("%s (-install +plugin):\n%s", host, diff)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func version(t *testing.T, path string) string {
	t.Helper()
	var manifest struct{ Version string }
	if err := json.Unmarshal([]byte(read(t, path)), &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest.Version
}

package gemini

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"

	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/settings"
)

const binary = "/usr/local/bin/ctxls"

func mustInstall(t *testing.T, text []byte, executable string) []byte {
	t.Helper()
	after, _, err := Host.Installer.Install("settings.json", text, executable, false)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return after
}

// commands returns what a settings text runs at each event, as "name: command (timeout)".
func commands(t *testing.T, text []byte) map[string][]string {
	t.Helper()
	plain, err := hujson.Standardize(bytes.Clone(text))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Hooks map[string][]struct {
			Matcher *string
			Hooks   []struct {
				Type, Name, Command string
				Timeout             int
			}
		}
	}
	if err := json.Unmarshal(plain, &file); err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for event, groups := range file.Hooks {
		for _, group := range groups {
			for _, h := range group.Hooks {
				found[event] = append(found[event], strings.TrimSpace(h.Name+" "+h.Command))
				if h.Name == "ctxls" && (h.Timeout != 5000 || h.Type != "command" || group.Matcher != nil) {
					t.Errorf("%s: %+v in %+v", event, h, group)
				}
			}
		}
	}
	return found
}

// A new file, in full: what people will find in it.
func TestInstallIntoNothing(t *testing.T) {
	const want = `{
  "hooks": {
    "SessionStart": [{"hooks": [{"type": "command", "name": "ctxls", "command": "trap \"exit 0\" 0; /usr/local/bin/ctxls hook gemini-cli <&0 2>/dev/null & trap \"kill $! 2>/dev/null\" 15; wait $!; exit 0", "timeout": 5000}]}],
    "BeforeAgent": [{"hooks": [{"type": "command", "name": "ctxls", "command": "trap \"exit 0\" 0; /usr/local/bin/ctxls hook gemini-cli <&0 2>/dev/null & trap \"kill $! 2>/dev/null\" 15; wait $!; exit 0", "timeout": 5000}]}],
    "AfterModel": [{"hooks": [{"type": "command", "name": "ctxls", "command": "trap \"exit 0\" 0; /usr/local/bin/ctxls hook gemini-cli <&0 2>/dev/null & trap \"kill $! 2>/dev/null\" 15; wait $!; exit 0", "timeout": 5000}]}],
    "AfterTool": [{"hooks": [{"type": "command", "name": "ctxls", "command": "trap \"exit 0\" 0; /usr/local/bin/ctxls hook gemini-cli <&0 2>/dev/null & trap \"kill $! 2>/dev/null\" 15; wait $!; exit 0", "timeout": 5000}]}],
    "AfterAgent": [{"hooks": [{"type": "command", "name": "ctxls", "command": "trap \"exit 0\" 0; /usr/local/bin/ctxls hook gemini-cli <&0 2>/dev/null & trap \"kill $! 2>/dev/null\" 15; wait $!; exit 0", "timeout": 5000}]}],
    "SessionEnd": [{"hooks": [{"type": "command", "name": "ctxls", "command": "trap \"exit 0\" 0; /usr/local/bin/ctxls hook gemini-cli <&0 2>/dev/null & trap \"kill $! 2>/dev/null\" 15; wait $!; exit 0", "timeout": 5000}]}]
  }
}
`
	got := mustInstall(t, nil, binary)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if after, done, err := Host.Installer.Install("settings.json", got, binary, false); err != nil || len(done) > 0 || !bytes.Equal(after, got) {
		t.Errorf("again: %q, %v", done, err)
	}
	if left, done, err := Host.Installer.Uninstall("settings.json", got, nil); err != nil || left != nil || len(done) != 1 {
		t.Errorf("uninstall leaves %q, %q, %v", left, done, err)
	}
}

// What is there stays as it is, comments and all, and what is taken out gives every byte back.
func TestInstallBesideOthers(t *testing.T) {
	const mine = `{
  // the model I like
  "model": {"name": "gemini-2.5-pro"},
  "hooks": {
    "AfterTool": [
      {"matcher": "write_.*", "hooks": [{"type": "command", "command": "say written"}]} // loud
    ],
    "Notification": []
  }
}`
	after := mustInstall(t, []byte(mine), binary)
	ours := `ctxls trap "exit 0" 0; ` + binary + " hook gemini-cli" + ` <&0 2>/dev/null & trap "kill $! 2>/dev/null" 15; wait $!; exit 0`
	want := map[string][]string{"AfterTool": {"say written", ours}}
	for _, h := range Hooks {
		if h.Event != "AfterTool" {
			want[h.Event] = []string{ours}
		}
	}
	if diff := cmp.Diff(want, commands(t, after)); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
	back, done, err := Host.Installer.Uninstall("settings.json", after, []byte(mine))
	if err != nil || string(back) != mine || len(done) != 1 {
		t.Errorf("%v, %q (-want +got):\n%s", err, done, cmp.Diff(mine, string(back)))
	}
}

// Where ctxls lies makes no difference to what is recognised as ours: its hooks move with it.
func TestInstallMoves(t *testing.T) {
	for _, executable := range []string{
		"/home/me/bin/ctxls", "/opt/my tools/ctxls", "/opt/it's/ctxls", `C:/Program Files/ctxls/ctxls.exe`, "C:/it's/ctxls.exe",
	} {
		first := mustInstall(t, nil, executable)
		again, done, err := Host.Installer.Install("settings.json", first, executable, false)
		if err != nil || len(done) > 0 {
			t.Errorf("%s again: %q, %v\n%s", executable, done, err, again)
		}
		moved, done, err := Host.Installer.Install("settings.json", first, binary, false)
		if err != nil || len(done) != 1 || !bytes.Equal(moved, mustInstall(t, nil, binary)) {
			t.Errorf("%s moved: %q, %v\n%s", executable, done, err, moved)
		}
		if left, _, err := Host.Installer.Uninstall("settings.json", first, nil); err != nil || left != nil {
			t.Errorf("%s: uninstall leaves %q, %v", executable, left, err)
		}
	}
	for executable, want := range map[string]string{
		"/opt/my tools/ctxls":              `trap "exit 0" 0; '/opt/my tools/ctxls' hook gemini-cli <&0 2>/dev/null & trap "kill $! 2>/dev/null" 15; wait $!; exit 0`,
		"C:/Program Files/ctxls/ctxls.exe": `& 'C:\Program Files\ctxls\ctxls.exe' hook gemini-cli`,
		"C:/it's/ctxls.exe":                `& 'C:\it''s\ctxls.exe' hook gemini-cli`,
		"C:/r&d (x86)/$a/ctxls.exe":        `& 'C:\r&d (x86)\$a\ctxls.exe' hook gemini-cli`,
		"//server/my tools/ctxls.exe":      `& '\\server\my tools\ctxls.exe' hook gemini-cli`,
	} {
		if got := commands(t, mustInstall(t, nil, executable))["AfterTool"]; len(got) != 1 || got[0] != "ctxls "+want {
			t.Errorf("%s runs as %q, want %q", executable, got, want)
		}
	}
}

// A line that somebody wrote by hand is ours too, and stays as it was written.
func TestInstallKeepsWhatIsWritten(t *testing.T) {
	for command, ours := range map[string]bool{
		"CTXLS_LOG=debug /opt/ctxls hook gemini-cli": true,
		"ctxls hook gemini-cli":                      true,
		"exec ctxls hook gemini-cli":                 true,
		"exec ctxls hook gemini-cli 2>/dev/null":     true,
		"ctxls hook claude-code":                     false,
		"notctxls hook gemini-cli":                   false,
	} {
		text := []byte(`{"hooks": {"AfterTool": [{"hooks": [{"type": "command", "command": "` + command + `"}]}]}}`)
		after := mustInstall(t, text, binary)
		if n := len(commands(t, after)["AfterTool"]); (n == 1) != ours {
			t.Errorf("%s: %d hooks", command, n)
		}
	}
	written := []byte(`{"hooks": {"AfterTool": [{"hooks": [{"type": "command", "command": "CTXLS_LOG=debug /opt/ctxls hook gemini-cli"}]}]}}`)
	if got := commands(t, mustInstall(t, written, binary))["AfterTool"]; got[0] != "CTXLS_LOG=debug /opt/ctxls hook gemini-cli" {
		t.Errorf("%q", got)
	}
}

func TestInstallNotes(t *testing.T) {
	for text, want := range map[string]string{
		`{"hooksConfig": {"enabled": false}}`:              "hooksConfig.enabled is false",
		`{"hooksConfig": {"disabled": ["lint", "ctxls"]}}`: "hooksConfig.disabled names ctxls",
		`{"hooksConfig": {"enabled": true}}`:               "",
		`{"hooksConfig": 5}`:                               "",
	} {
		_, done, err := Host.Installer.Install("settings.json", []byte(text), binary, false)
		if said := strings.Join(done, "\n"); err != nil || want == "" != !strings.Contains(said, "note:") || !strings.Contains(said, want) {
			t.Errorf("%s: %q, %v", text, done, err)
		}
	}
	for text, want := range map[string]string{
		`[]`: "settings.json:1:1: the file holds a list, want an object", `{"hooks": 5}`: `settings.json:1:11: "hooks" holds a number, want an object`,
		`{"hooks": {"AfterTool": {}}}`: `settings.json:1:25: "hooks.AfterTool" holds an object, want a list`,
	} {
		if _, _, err := Host.Installer.Install("settings.json", []byte(text), binary, false); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestSettingsFile(t *testing.T) {
	none := func(string) string { return "" }
	elsewhere := func(name string) string { return map[string]string{"GEMINI_CLI_HOME": "/else"}[name] }
	for _, tt := range []struct {
		scope  settings.Scope
		getenv func(string) string
		want   string
	}{
		{settings.User, none, "/home/me/.gemini/settings.json"},
		{settings.User, elsewhere, "/else/.gemini/settings.json"},
		{settings.Project, elsewhere, "/p/.gemini/settings.json"},
	} {
		if got := Host.Installer.SettingsFile(tt.scope, host.Env{Getenv: tt.getenv, Home: "/home/me", CWD: "/p"}); got != filepath.FromSlash(tt.want) {
			t.Errorf("%s: %s, want %s", tt.scope, got, tt.want)
		}
	}
}

// Whatever a settings file holds: installing and uninstalling gives every byte back.
func FuzzInstall(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "{\n}", "{ // c\n}", "[1]", `{"hooks": {"AfterTool": [{"matcher": "x", "hooks": [{"command": "x"}]}]}, }`, "\ufeff{}//",
		`{"hooks": {"AfterTool": [1, {"hooks": 2}, {"hooks": [3, {"command": 4}]}]}}`, `{"hooksConfig": {"enabled": /* no */ false}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		after, done, err := Host.Installer.Install("settings.json", text, binary, false)
		if err != nil || bytes.Contains(text, []byte("ctxls")) {
			return
		}
		if len(done) == 0 {
			t.Fatal("nothing was done")
		}
		back, _, err := Host.Installer.Uninstall("settings.json", after, text)
		if err != nil || !bytes.Equal(back, text) {
			t.Errorf("%v, uninstall (-want +got):\n%s", err, cmp.Diff(string(text), string(back)))
		}
	})
}

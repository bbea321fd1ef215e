package codex

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/settings"
)

const binary = "/usr/local/bin/ctxls"

// guarded stands before a line for a POSIX shell: whatever happens there, the status is 0.
const guarded = `/bin/sh -c 'trap "exit 0" 0; "$0" "$@"; exit 0' `

func install(t interface{ Fatal(...any) }, text []byte, executable string) []byte {
	after, done, err := Host.Installer.Install("hooks.json", text, executable, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(done) == 0 {
		t.Fatal("nothing was done")
	}
	return after
}

// hook is one that Codex would run.
type hook struct {
	Command string
	Timeout int
}

// hooks lists what Codex would run, event by event, as it reads the file.
func hooks(t *testing.T, text []byte) map[string][]hook {
	t.Helper()
	standard, err := hujson.Standardize(append(bytes.Clone(text), '\n'))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var file struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Type, Command string
				Timeout       int
			}
		}
	}
	dec := json.NewDecoder(bytes.NewReader(standard))
	if err := dec.Decode(&file); err != nil {
		t.Fatal(err)
	}
	all := map[string][]hook{}
	for event, groups := range file.Hooks {
		for _, group := range groups {
			for _, h := range group.Hooks {
				all[event] = append(all[event], hook{h.Command, h.Timeout})
			}
		}
	}
	return all
}

func TestInstall(t *testing.T) {
	tests := []struct {
		name, text string
		foreign    map[string][]hook // before our own hooks
	}{
		{name: "no file"},
		{name: "empty file", text: " \n"},
		{name: "empty object", text: "{}\n"},
		{name: "empty containers", text: `{"hooks": {"Stop": [], "SessionEnd": [ ]}, "description": "mine"}`},
		{name: "CRLF", text: "{\r\n\t\"description\": \"mine\"\r\n}\r\n"},
		{name: "comments", text: "{\n  // mine\n}\n"},
		{
			name: "foreign hooks", foreign: map[string][]hook{"Stop": {{"say done", 0}}, "PreToolUse": {{"guard.sh", 9}}, "PostToolUse": {{"notctxls hook codex", 0}}},
			text: "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n    ],\n" +
				"    \"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"guard.sh\", \"timeout\": 9}]}],\n" +
				"    \"PostToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"notctxls hook codex\"}]}]\n  }\n}\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var before []byte
			if test.name != "no file" {
				before = []byte(test.text)
			}
			after := install(t, before, binary)
			want := map[string][]hook{}
			for event, foreign := range test.foreign {
				want[event] = foreign
			}
			for _, h := range Hooks {
				want[h.Event] = append(want[h.Event], hook{guarded + binary + " hook codex", h.Timeout})
			}
			if diff := cmp.Diff(want, hooks(t, after)); diff != "" {
				t.Errorf("what Codex runs (-want +got):\n%s\n%s", diff, after)
			}
			if again, done, err := Host.Installer.Install("hooks.json", after, binary, false); err != nil || len(done) > 0 || !bytes.Equal(again, after) {
				t.Errorf("a second install did %q, %v", done, err)
			}
			got, done, err := Host.Installer.Uninstall("hooks.json", after, before)
			if err != nil || len(done) != 1 || !bytes.Equal(got, before) || (got == nil) != (before == nil) {
				t.Errorf("uninstall did %q, %v (-want +got):\n%s", done, err, cmp.Diff(string(before), string(got)))
			}
		})
	}
}

// The line for a shell is one word and two arguments, wherever the program lies, and is known again.
func TestInstallWhereverTheProgramLies(t *testing.T) {
	for executable, want := range map[string]string{
		"/opt/my tools/ctxls":   guarded + "'/opt/my tools/ctxls' hook codex",
		"/home/o'neill/ctxls":   guarded + `'/home/o'\''neill/ctxls' hook codex`,
		"/home/$(reboot)/ctxls": guarded + "'/home/$(reboot)/ctxls' hook codex",
		// On Windows Codex hands it to PowerShell, which prints what is in quotes and runs nothing, or to cmd.exe.
		"C:/Program Files/ctxls/ctxls.exe": `cmd /d /c "C:\Program Files\ctxls\ctxls.exe" hook codex`,
		"C:/bin/ctxls.exe":                 `C:\bin\ctxls.exe hook codex`,
		`c:\bin\ctxls.exe`:                 `C:\bin\ctxls.exe hook codex`,
		"//server/my tools/ctxls.exe":      `cmd /d /c "\\server\my tools\ctxls.exe" hook codex`,
		"//server/tools/ctxls.exe":         `\\server\tools\ctxls.exe hook codex`,
		"//?/C:/bin/ctxls.exe":             `C:\bin\ctxls.exe hook codex`,
		"C:/Program Files (x86)/ctxls.exe": `cmd /d /c "C:\Program Files (x86)\ctxls.exe" hook codex`, // and a note, below
	} {
		text := install(t, nil, executable)
		if got := hooks(t, text)["Stop"]; len(got) != 1 || got[0].Command != want {
			t.Errorf("%s: %v, want %q", executable, got, want)
		}
		moved := install(t, text, binary)
		if got := hooks(t, moved)["Stop"]; len(got) != 1 || got[0].Command != guarded+binary+" hook codex" {
			t.Errorf("%s, moved: %v", executable, got)
		}
		if left, _, err := Host.Installer.Uninstall("hooks.json", text, nil); err != nil || left != nil {
			t.Errorf("%s: uninstall left %s, %v", executable, left, err)
		}
	}
}

// What no shell of Windows can be told to run is said.
func TestInstallSaysWhatCannotRun(t *testing.T) {
	for executable, said := range map[string]bool{
		"C:/Program Files (x86)/ctxls.exe": true, "C:/r&d/ctxls.exe": true, "C:/Program Files/ctxls.exe": false, "/opt/r&d (x)/ctxls": false,
	} {
		_, done, err := Host.Installer.Install("hooks.json", nil, executable, false)
		if err != nil || strings.Contains(strings.Join(done, "\n"), "note: Codex on Windows") != said {
			t.Errorf("%s: %q, %v", executable, done, err)
		}
	}
}

// The line that an older ctxls wrote for a path with a blank is put right.
func TestInstallRewritesQuotesOnWindows(t *testing.T) {
	const program = "C:/Program Files/ctxls/ctxls.exe"
	old := strings.ReplaceAll(string(install(t, nil, program)), "cmd /d /c ", "")
	after, done, err := Host.Installer.Install("hooks.json", []byte(old), program, false)
	if err != nil || len(done) != 1 || string(after) != string(install(t, nil, program)) {
		t.Errorf("%q, %v\n%s", done, err, after)
	}
}

// A line that somebody amended is ours, and stays as they wrote it.
func TestAnAmendedLineStays(t *testing.T) {
	text := []byte(strings.ReplaceAll(string(install(t, nil, binary)), binary, "CTXLS_LOG_LEVEL=debug /elsewhere/ctxls"))
	if after, done, err := Host.Installer.Install("hooks.json", text, binary, false); err != nil || done != nil || !bytes.Equal(after, text) {
		t.Errorf("install did %q, %v", done, err)
	}
	if left, _, err := Host.Installer.Uninstall("hooks.json", text, nil); err != nil || left != nil {
		t.Errorf("uninstall left %s, %v", left, err)
	}
}

// What Codex does not read is said.
func TestInstallSaysWhatCodexDoesNotRead(t *testing.T) {
	for text, want := range map[string]bool{"{ // mine\n}": true, `{"a": 1,}`: true, "\ufeff{}": true, "{}": false} {
		_, done, err := Host.Installer.Install("hooks.json", []byte(text), binary, false)
		if err != nil || strings.Contains(strings.Join(done, "\n"), "note: the file has comments") != want {
			t.Errorf("%q: %q, %v", text, done, err)
		}
	}
	if _, _, err := Host.Installer.Install("hooks.json", []byte(`{"hooks": []}`), binary, false); err == nil || err.Error() != `hooks.json:1:11: "hooks" holds a list, want an object` {
		t.Errorf("a list of hooks: %v", err)
	}
}

// Whatever is in the file: what install did, uninstall takes back to the byte.
func TestUninstallUndoesInstall(t *testing.T) {
	space := rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\r\n\t"})
	entry := rapid.SampledFrom([]string{
		`{"hooks":[{"type":"command","command":"x"}]}`, `{ "matcher": "Bash", "hooks": [ ] }`, `{"hooks":[{"type":"command","command":"/a/ctxls hook claude-code"}]}`, `7`,
	})
	rapid.Check(t, func(t *rapid.T) {
		var events []string
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"Stop", "SessionEnd", "PreToolUse", "Other"}), 0, 4, rapid.ID).Draw(t, "events") {
			entries := strings.Join(rapid.SliceOfN(entry, 0, 3).Draw(t, "entries"), ","+space.Draw(t, "between"))
			events = append(events, `"`+name+`":`+space.Draw(t, "s")+"["+entries+space.Draw(t, "e")+"]")
		}
		text := []byte("{" + space.Draw(t, "a") + `"hooks": {` + space.Draw(t, "b") + strings.Join(events, ","+space.Draw(t, "c")) + space.Draw(t, "d") + "}" + space.Draw(t, "f") + "}")
		after := install(t, text, binary)
		got, _, err := Host.Installer.Uninstall("hooks.json", after, text)
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%v: %q became %q", err, text, got)
		}
	})
}

func TestHooksFile(t *testing.T) {
	for _, test := range []struct {
		scope settings.Scope
		home  string // CODEX_HOME
		want  string
	}{
		{settings.User, "", "/home/dev/.codex/hooks.json"},
		{settings.User, "/elsewhere", "/elsewhere/hooks.json"},
		{settings.Project, "/elsewhere", "/w/.codex/hooks.json"},
	} {
		getenv := func(name string) string { return map[string]string{"CODEX_HOME": test.home}[name] }
		if got := strings.ReplaceAll(Host.Installer.SettingsFile(test.scope, host.Env{Getenv: getenv, Home: "/home/dev", CWD: "/w"}), `\`, "/"); got != test.want {
			t.Errorf("%s: %s, want %s", test.scope, got, test.want)
		}
	}
}

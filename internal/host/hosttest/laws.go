package hosttest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
)

// The laws of hosts whose hooks and settings have the form that most hosts share.

// binary is the program that tests install.
const binary = "/usr/local/bin/ctxls"

// settingsTexts are settings files of people, odd ones among them.
var settingsTexts = []string{
	"", "{}", "{\n}", "{ // c\n}", `{"model": "m", "hooks": {"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "say done"}]}], }, }`, "\ufeff{}//",
	`{"hooks": {"SessionStart": [1, {"hooks": 2}, {"hooks": [3, {"command": 4}]}], "Notification": []}}`, `{"hooks": /* none */ {}}`,
}

// Install makes sure that an installer adds its hooks to a settings text, finds them again, adds nothing twice, moves them with the
// program, and gives every byte back.
func Install(t *testing.T, i host.Installer) {
	t.Helper()
	for _, text := range settingsTexts {
		before := []byte(text)
		if text == "" {
			before = nil
		}
		after, done, err := i.Install("settings.json", before, binary, false)
		if err != nil || len(done) == 0 || len(i.Installed(after)) < len(i.Profile().Events) {
			t.Fatalf("%q: %v, %q, installed: %+v", text, err, done, i.Installed(after))
		}
		if again, done, err := i.Install("settings.json", after, binary, false); err != nil || len(done) > 0 || !bytes.Equal(again, after) {
			t.Errorf("%q again: %v, %q", text, err, done)
		}
		moved, done, err := i.Install("settings.json", after, "/opt/it's here/ctxls", false)
		if err != nil || len(done) == 0 || len(i.Installed(moved)) != len(i.Installed(after)) {
			t.Errorf("%q moved: %v, %q", text, err, done)
		}
		for _, own := range i.Installed(moved) {
			if own.Program != "/opt/it's here/ctxls" {
				t.Errorf("%q moved: %+v", text, own)
			}
		}
		if back, _, err := i.Uninstall("settings.json", moved, before); err != nil || !bytes.Equal(back, before) {
			t.Errorf("%q: %v, uninstall (-want +got):\n%s", text, err, cmp.Diff(text, string(back)))
		}
	}
	for text, want := range map[string]string{
		`[]`: "settings.json:1:1: the file holds a list, want an object", `{"hooks": 5}`: `settings.json:1:11: "hooks" holds a number, want an object`,
	} {
		if _, _, err := i.Install("settings.json", []byte(text), binary, false); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// FuzzInstall makes sure that installing into any settings text and uninstalling gives every byte back.
func FuzzInstall(f *testing.F, i host.Installer) {
	for _, seed := range settingsTexts {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		after, done, err := i.Install("settings.json", text, binary, false)
		if err != nil || bytes.Contains(text, []byte("ctxls")) {
			return
		}
		if len(done) == 0 {
			t.Fatal("nothing was done")
		}
		back, _, err := i.Uninstall("settings.json", after, text)
		if err != nil || !bytes.Equal(back, text) {
			t.Errorf("%v, uninstall (-want +got):\n%s", err, cmp.Diff(string(text), string(back)))
		}
	})
}

// FuzzHooks makes sure that no payload, however odd, does more than fail with a code, and that the host is handed nothing or JSON that
// names its event, whatever there is to say. accepts says which events take a text, limit is the most characters of one.
func FuzzHooks(f *testing.F, a core.Adapter, accepts func(session.Event) bool, limit int) {
	for _, file := range Glob(f, "testdata/payloads/*.json") {
		f.Add(ReadFile(f, file), "[context used: 72%]\x1b]0;x\a\u202e\u2028")
	}
	f.Fuzz(func(t *testing.T, payload []byte, text string) {
		ev, err := a.Decode("", payload)
		if !Decoded(t, a.Host(), ev, err) {
			return
		}
		out, err := a.Encode(ev, Effects(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(out) == 0 {
			return
		}
		if !accepts(ev) {
			t.Fatalf("%s takes nothing, but is answered %q", ev.Name, out)
		}
		Said(t, Context(t, ev.Name, out), limit, func(rune) int { return 1 })
	})
}

// FuzzReads makes sure of how an adapter reads whatever lies in a record; see Reads. Seeds are the records in a directory of testdata.
func FuzzReads(f *testing.F, a core.Adapter, dir, name string) {
	for _, piece := range Excerpts(f, "testdata/"+dir+"/*.jsonl") {
		f.Add(piece, len(piece)/2)
	}
	f.Add([]byte("\x00\r\n{}\n[]\nhalf"), 1)
	temp := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte, first int) {
		Reads(t, a, filepath.Join(temp, fmt.Sprint(os.Getpid(), "-", name)), content, first)
	})
}

// Refused makes sure that payloads of no session, or of no event, are errors that say so.
func Refused(t *testing.T, a core.Adapter) {
	t.Helper()
	for payload, want := range map[string]string{
		"":                           "not a JSON object",
		"[1]":                        "not a JSON object",
		`{"session_id":"s"`:          "not a JSON object",
		`{"hook_event_name":"Stop"}`: "session_id: want",
		`{"session_id":7,"hook_event_name":"Stop"}`: "session_id: want",
		`{"session_id":"s"}`:                        "hook_event_name: want",
		strings.Repeat(" ", core.MaxPayload+1):      "want at most",
	} {
		if _, err := a.Decode("", []byte(payload)); err == nil || !strings.Contains(err.Error(), want) || coded.CodeOf(err) != coded.Invalid {
			t.Errorf("%.60q: %v, want %q", payload, err, want)
		}
	}
}

package claudecode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"github.com/ctxls/ctxls/internal/core/coded"
)

const binary = "/usr/local/bin/ctxls"

func install(t interface{ Fatal(...any) }, text []byte, statusline bool) []byte {
	after, done, err := Host.Installer.Install("settings.json", text, binary, statusline)
	if err != nil {
		t.Fatal(err)
	}
	if len(done) == 0 {
		t.Fatal("nothing was done")
	}
	return after
}

func uninstall(t interface{ Fatal(...any) }, text, before []byte) []byte {
	after, _, err := Host.Installer.Uninstall("settings.json", text, before)
	if err != nil {
		t.Fatal(err)
	}
	return after
}

// commands lists what the host would run, event by event, as the host reads the file.
func commands(t *testing.T, text []byte) map[string][]string {
	t.Helper()
	standard, err := hujson.Standardize(append(bytes.Clone(text), '\n'))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var s struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Type, Command string
				Args          []string
				Timeout       int
			}
		}
		StatusLine struct{ Type, Command string }
	}
	if err := json.Unmarshal(standard, &s); err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for event, groups := range s.Hooks {
		for _, group := range groups {
			for _, h := range group.Hooks {
				all[event] = append(all[event], strings.Join(append([]string{h.Command}, h.Args...), " "))
			}
		}
	}
	if s.StatusLine.Command != "" {
		all["statusLine"] = []string{s.StatusLine.Command}
	}
	return all
}

func TestInstall(t *testing.T) {
	own := `/bin/sh -c trap "exit 0" 0; "$0" "$@"; exit 0 ` + binary + " hook claude-code"
	tests := []struct {
		name, text string
		statusline bool
		want       map[string][]string // beside our own hooks
	}{
		{name: "no file"},
		{name: "empty file", text: " \n"},
		{name: "empty object", text: "{}\n"},
		{name: "empty containers", text: `{"hooks": {"Stop": [], "SessionEnd": [ ]}, "x": {}}`},
		{name: "minified", text: `{"model":"opus","permissions":{"allow":["Bash(ls:*)"]}}`},
		{name: "CRLF and a byte order mark", text: "\ufeff{\r\n\t\"model\": \"opus\" // mine\r\n}\r\n"},
		{name: "trailing commas and comments", text: "// top\n{\n    /* a */ \"model\": \"opus\", // b\n    // c\n}// end"},
		{name: "a comment instead of members", text: "{ // nothing yet\n}\n"},
		{
			name: "foreign hooks", want: map[string][]string{"Stop": {"say done", own}, "PreToolUse": {"guard.sh"}},
			text: "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\"type\": \"command\", \"command\": \"say done\"} // loud\n        ]\n      }\n    ],\n" +
				"    \"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"guard.sh\"}]}]\n  }\n}\n",
		},
		{name: "status line", text: "{}", statusline: true, want: map[string][]string{"statusLine": {binary + " statusline"}}},
		{
			name: "a status line that is there", statusline: true, text: `{"statusLine": {"type": "command", "command": "echo 'it\u0027s' | cat\/", "padding": 0}}`,
			want: map[string][]string{"statusLine": {binary + ` statusline --then 'echo '\''it'\''s'\'' | cat/'`}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var before []byte
			if test.name != "no file" {
				before = []byte(test.text)
			}
			after := install(t, before, test.statusline)
			want := map[string][]string{}
			for _, h := range Hooks {
				want[h.Event] = []string{own}
			}
			for event, commands := range test.want {
				want[event] = commands
			}
			if diff := cmp.Diff(want, commands(t, bytes.TrimPrefix(after, []byte("\ufeff")))); diff != "" {
				t.Errorf("what the host runs (-want +got):\n%s\n%s", diff, after)
			}
			if again, done, err := Host.Installer.Install("settings.json", after, binary, test.statusline); err != nil || len(done) > 0 || !bytes.Equal(again, after) {
				t.Errorf("a second install did %q, %v", done, err)
			}
			if got := uninstall(t, after, before); !bytes.Equal(got, before) || (got == nil) != (before == nil) {
				t.Errorf("uninstall (-want +got):\n%s", cmp.Diff(string(before), string(got)))
			}
		})
	}
}

// What a person sees: a block of one line an event, and every line that was there as it was.
func TestInstallLooksLikeItsFile(t *testing.T) {
	before := "{\n    // how I like it\n    \"model\": \"opus\", // big\n    \"statusLine\": {\"type\": \"command\", \"command\": \"date\"}\n}\n"
	entry := `[{"hooks": [{"type": "command", "command": "/bin/sh", "args": ["-c", "trap \"exit 0\" 0; \"$0\" \"$@\"; exit 0", "/usr/local/bin/ctxls", "hook", "claude-code"], "timeout": 5}]}]`
	want := "{\n    // how I like it\n    \"model\": \"opus\", // big\n    \"statusLine\": {\"type\": \"command\", \"command\": \"/usr/local/bin/ctxls statusline --then date\"},\n    \"hooks\": {\n"
	for i, h := range Hooks {
		comma := ","
		if i == len(Hooks)-1 {
			comma = ""
		}
		want += fmt.Sprintf("        %q: %s%s\n", h.Event, entry, comma)
	}
	want += "    }\n}\n"
	if diff := cmp.Diff(want, string(install(t, []byte(before), true))); diff != "" {
		t.Error(diff)
	}
}

func TestInstallRefuses(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"{\n  \"model\": \"opus\"\n  \"x\": 1\n}", "settings.json:3:3: "},
		{"[]", "settings.json:1:1: the file holds a list, want an object"},
		{"{\n  \"hooks\": []\n}", `settings.json:2:12: "hooks" holds a list, want an object`},
		{"{\"hooks\": {\n  \"Stop\": \"x\"}}", `settings.json:2:11: "hooks.Stop" holds a string, want a list`},
		{"{\"hooks\": {}, \"hooks\": {}}", `settings.json:1:15: "hooks" is set a second time`},
		{"{\"statusLine\": 1}", `settings.json:1:16: "statusLine" holds a number, want an object`},
		{"{\"statusLine\": {\"type\": \"static\"}}", `settings.json:1:16: "statusLine" is no command: want {"type": "command", "command": "…"}`},
		{"{\"a\": \"\xff\"}", "settings.json: not UTF-8 text"},
		{strings.Repeat("[", 1<<20), "settings.json: more than 20000 brackets"},
	} {
		after, _, err := Host.Installer.Install("settings.json", []byte(test.text), binary, true)
		if coded.CodeOf(err) != coded.Invalid || !strings.HasPrefix(err.Error(), test.want) || after != nil {
			t.Errorf("%.40q: %v, want %s", test.text, err, test.want)
		}
	}
}

// What keeps Claude Code from running anything is said.
func TestInstallNotes(t *testing.T) {
	for text, want := range map[string]string{
		`{"totalTokensReminder": "off", "disableAllHooks": true}`:         "note: disableAllHooks is true",
		`{"totalTokensReminder": "countdown", "model": "opus" /* big */}`: "note: the file has comments",
		`{"totalTokensReminder": "off", "disableAllHooks": false}`:        "hooks added: ",
		`{"totalTokensReminder": "infinite"}`:                             `note: Claude Code tells most models "N tokens left"`,
		`{}`:                                                              `note: Claude Code tells most models "N tokens left"`,
	} {
		_, done, err := Host.Installer.Install("settings.json", []byte(text), binary, false)
		if err != nil || !strings.HasPrefix(done[len(done)-1], want) {
			t.Errorf("%s: %q, %v", text, done, err)
		}
	}
}

// Another ctxls, as after a move or from a written example, is known again.
func TestInstallKnowsItsOwn(t *testing.T) {
	old := install(t, []byte("{}"), true)
	moved, done, err := Host.Installer.Install("settings.json", old, `C:\Program Files\ctxls\ctxls.exe`, true)
	if err != nil || len(done) != 2 {
		t.Fatal(done, err)
	}
	got := commands(t, moved)
	if diff := cmp.Diff([]string{"C:/Program Files/ctxls/ctxls.exe hook claude-code"}, got["Stop"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"'C:/Program Files/ctxls/ctxls.exe' statusline"}, got["statusLine"]); diff != "" {
		t.Error(diff)
	}
	if after := uninstall(t, moved, nil); after != nil {
		t.Errorf("left: %s", after)
	}

	written := []byte(`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ctxls hook claude-code"}, {"type": "command", "command": "notctxls hook claude-code"}]}]}}`)
	if got := commands(t, install(t, written, false)); len(got["Stop"]) != 2 {
		t.Errorf("Stop runs %q", got["Stop"])
	}
	if diff := cmp.Diff(`{"hooks": {"Stop": [{"hooks": [ {"type": "command", "command": "notctxls hook claude-code"}]}]}}`, string(uninstall(t, written, nil))); diff != "" {
		t.Error(diff)
	}
}

// Claude Code writes the whole file anew, with two spaces and no comments, when a setting is changed in its own dialogs.
func TestUninstallAfterTheHostRewroteTheFile(t *testing.T) {
	before := []byte("{\n  \"model\": \"opus\",\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"date\"\n  }\n}\n")
	var v map[string]any
	if err := json.Unmarshal(install(t, before, true), &v); err != nil {
		t.Fatal(err)
	}
	v["theme"] = "dark"
	rewritten, _ := json.MarshalIndent(v, "", "  ")
	want := "{\n  \"model\": \"opus\",\n  \"statusLine\": {\n    \"command\": \"date\",\n    \"type\": \"command\"\n  },\n  \"theme\": \"dark\"\n}"
	if diff := cmp.Diff(want, string(uninstall(t, rewritten, before))); diff != "" {
		t.Error(diff)
	}
}

// The comment somebody wrote between our lines stays, and so does a hook of theirs in our group.
func TestUninstallLeavesWhatCameBetween(t *testing.T) {
	text := string(install(t, nil, false))
	text = strings.Replace(text, `    "Stop"`, "    // when the turn is over\n    \"Stop\"", 1)
	text = strings.Replace(text, `"timeout": 5}]}]`, `"timeout": 5}, {"type": "command", "command": "mine"}]}]`, 1)
	got := string(uninstall(t, []byte(text), nil))
	if want := "{\n  \"hooks\": {\n    \"SessionStart\": [{\"hooks\": [ {\"type\": \"command\", \"command\": \"mine\"}]}]\n    // when the turn is over\n  }\n}\n"; got != want {
		t.Errorf("left:\n%s", got)
	}
}

func TestShellWords(t *testing.T) {
	for _, s := range []string{"plain", "", "two words", "it's", `back\slash`, "a$b `c` \"d\"", "new\nline", "ünïcode", "~"} {
		words, ok := shellWords(quote(s) + " " + quote("end"))
		if !ok || len(words) != 2 || words[0] != s || words[1] != "end" {
			t.Errorf("%q came back as %q, %v", s, words, ok)
		}
	}
	for _, s := range []string{"a | b", "a; b", "a && b", "$(a)", `"$a"`, "'open", `"open`, `end\`, "a > b", "  "} {
		if words, ok := shellWords(s); ok {
			t.Errorf("%q is no single plain command, got %q", s, words)
		}
	}
}

// For any settings that people and hosts write: what is installed is found again, and uninstalling gives the file back byte for
// byte, with whatever was edited in between.
func TestInstallAndUninstallRestoreEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := generator{T: t, newline: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")}
		before := []byte(g.document())
		statusline := rapid.Bool().Draw(t, "statusline")
		installed := install(t, before, statusline)
		if _, done, err := Host.Installer.Install("settings.json", installed, binary, statusline); err != nil || len(done) > 0 {
			t.Fatalf("a second install did %q, %v:\n%s", done, err, installed)
		}
		if got := uninstall(t, installed, before); !bytes.Equal(got, before) {
			t.Fatalf("uninstall (-want +got):\n%s", cmp.Diff(string(before), string(got)))
		}
		edit := func(text []byte) []byte {
			for i := range g.marks {
				text = bytes.Replace(text, fmt.Appendf(nil, `"mark%d"`, i), []byte("\"edited\" /* by hand */, \"new\": [1] // so\n"), 1)
			}
			return text
		}
		if got, want := uninstall(t, edit(installed), before), edit(before); !bytes.Equal(got, want) {
			t.Fatalf("after edits (-want +got):\n%s", cmp.Diff(string(want), string(got)))
		}
	})
}

// generator draws settings files: JSON with comments, trailing commas and any layout.
type generator struct {
	*rapid.T
	newline string
	marks   int
}

func (g *generator) one(of ...string) string { return rapid.SampledFrom(of).Draw(g.T, "choice") }

func (g *generator) space() string {
	return g.one("", "", " ", g.newline+"  ", g.newline+"\t", "  ", " /* c */ ", " // l"+g.newline, g.newline+g.newline)
}

func (g *generator) list(open, end string, items []string) string {
	var b strings.Builder
	b.WriteString(open + g.space())
	for i, item := range items {
		b.WriteString(item + g.space())
		if i < len(items)-1 || rapid.IntRange(0, 4).Draw(g.T, "trailing") == 0 {
			b.WriteString("," + g.space())
		}
	}
	return b.String() + end
}

func (g *generator) member(name, value string) string {
	return `"` + name + `"` + g.one("", " ") + ":" + g.one(" ", "", " /* v */ ") + value
}

func (g *generator) mark() string {
	g.marks++
	return g.member(fmt.Sprintf("k%d", g.marks), fmt.Sprintf(`"mark%d"`, g.marks-1))
}

func (g *generator) hook() string {
	return g.list("{", "}", []string{g.member("type", `"command"`), g.member("command", g.one(`"guard"`, `"ctxls-other hook claude-code"`, `"\u0063at"`)), g.mark()})
}

func (g *generator) several(most int, draw func() string) (items []string) {
	for range rapid.IntRange(0, most).Draw(g.T, "count") {
		items = append(items, draw())
	}
	return items
}

func (g *generator) document() string {
	members := g.several(3, g.mark)
	if g.one("hooks", "") != "" {
		var events []string
		for _, name := range []string{"Stop", "PreToolUse", "SessionStart", "PostCompact"} {
			if g.one(name, "") != "" {
				groups := g.several(2, func() string {
					return g.list("{", "}", []string{g.member("matcher", `"*"`), g.member("hooks", g.list("[", "]", g.several(2, g.hook)))})
				})
				events = append(events, g.member(name, g.list("[", "]", groups)))
			}
		}
		members = append(members, g.member("hooks", g.list("{", "}", events)))
	}
	if g.one("statusLine", "") != "" {
		members = append(members, g.member("statusLine", g.list("{", "}", []string{
			g.member("type", `"command"`), g.member("command", g.one(`"date"`, `"\u0065cho \"a b\" | tr a 'b'"`, `"x\/y"`, `""`)), g.mark(),
		})))
	}
	members = append(members, g.several(2, g.mark)...)
	return g.one("", "\ufeff", "// top"+g.newline) + g.list("{", "}", members) + g.one("", g.newline, " // end")
}

// Whatever a file holds: it is refused, or installing and uninstalling gives it back.
func FuzzInstall(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "{\n}", "{ // c\n}", "[1]", `{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}, }`, "\ufeff{}//",
		`{"statusLine": {"type": "command", "command": "a 'b'"}}`, `{"hooks": {"Stop": [1, {"hooks": 2}, {"hooks": [3, {"command": 4}]}]}}`, `{"a": /* x */ 1 , /* y */ }`,
	} {
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, statusline bool) {
		after, done, err := Host.Installer.Install("settings.json", text, binary, statusline)
		if err != nil || bytes.Contains(text, []byte("ctxls")) {
			return
		}
		if len(done) == 0 {
			t.Fatal("nothing was done")
		}
		if got := uninstall(t, after, text); !bytes.Equal(got, text) {
			t.Errorf("uninstall (-want +got):\n%s", cmp.Diff(string(text), string(got)))
		}
	})
}

// On Linux a backslash is a character like any other in the name of a directory.
func TestInstallKeepsABackslashThatIsPartOfAName(t *testing.T) {
	const executable = `/home/me/we\ird dir/ctxls`
	after, _, err := Host.Installer.Install("settings.json", nil, executable, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range (Installer{}).Installed(after) {
		if own.Program != executable {
			t.Errorf("%s runs %s", own.Place, own.Program)
		}
	}
	if line := (Installer{}).StatusLine(after); line.Program != executable {
		t.Errorf("the status line runs %s", line.Program)
	}
	if again, done, err := Host.Installer.Install("settings.json", after, executable, true); err != nil || len(done) > 0 {
		t.Errorf("once more: %v %v %s", done, err, again)
	}
}

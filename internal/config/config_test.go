package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/core/settings"
)

// Each testdata/*.txtar is a home directory with its files, the other sources (client, env, flags, cwd), and the result:
// the problems, and the settings that differ from the default.
func TestLoad(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	if len(paths) < 8 {
		t.Fatalf("found %d cases in testdata", len(paths))
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive := txtar.Parse([]byte(readString(t, path)))
			home := t.TempDir()
			sources := config.Sources{
				UserFile: filepath.Join(home, "config.json"),
				CWD:      filepath.Join(home, "repo"),
				Home:     home,
			}
			var wantProblems, wantSettings *txtar.File
			for i := range archive.Files {
				f := &archive.Files[i]
				switch f.Name {
				case "client":
					sources.Client = config.Overlay{Name: "initializationOptions.config", JSON: f.Data}
				case "env":
					sources.Env = lines(f.Data)
				case "flags":
					sources.Flags = map[string]string{}
					for _, line := range lines(f.Data) {
						key, value, _ := strings.Cut(line, "=")
						sources.Flags[key] = value
					}
				case "cwd":
					sources.CWD = filepath.Join(home, strings.TrimSpace(string(f.Data)))
				case "problems":
					wantProblems = f
				case "settings":
					wantSettings = f
				default:
					writeString(t, filepath.Join(home, f.Name), string(f.Data))
				}
			}
			got, problems := config.Load(sources)
			gotProblems := strings.ReplaceAll(join(problems), home+string(filepath.Separator), "~/")
			gotSettings := changes(t, got)
			if *update {
				wantProblems.Data, wantSettings.Data = []byte(gotProblems), []byte(gotSettings)
				writeString(t, path, string(txtar.Format(archive)))
			}
			if filepath.Separator == '\\' { // quoted text keeps it
				gotProblems = strings.ReplaceAll(filepath.ToSlash(gotProblems), `/"`, `\"`)
			}
			if diff := cmp.Diff(string(wantProblems.Data), gotProblems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(string(wantSettings.Data), gotSettings); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

// Every kind of mistake, one at a time, in the user's file.
func TestMistakes(t *testing.T) {
	for _, test := range []struct {
		text string
		want string // each problem on its own line, without the file
	}{
		// Syntax.
		{`{"levels": [50, 70, 85]`, `1:24: the object is not closed; expected , or }`},
		{"{\n  \"log\": {\n", `2:11: the file ends too early; expected a value`},
		{"{}\n{}", `2:1: invalid character '{' after top-level value`},
		{`{"handoff" {}}`, `1:12: invalid character '{' after object name`},
		{`{'handoff': {}}`, `1:2: invalid character '\'' at start of value`},
		{`{handoff: {}}`, `1:2: not valid JSON: handoff; names and texts need double quotes`},
		{`{"handoff": {"enabled": yes}}`, `1:25: not valid JSON: yes; names and texts need double quotes`},
		{`{"handoff": {"percent": 08}}`, `1:25: not valid JSON: 08`},
		{"{\"log\": {\"path\": \"a\x1b[31mb\"}}", `1:18: not valid JSON: "\"a\x1b[31mb\""`},
		{"{\n/* and so on", `2:1: the comment is not closed; expected */`},
		{"{\n\"log\": \"\xff\"}", `2:9: not UTF-8 text`},
		{"\xff\xfe{\x00}\x00", `1:1: not UTF-8 text`},
		{strings.Repeat("[", 100), `1:33: nested deeper than 32 levels`},
		{`{"$schema": ` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, `1:44: nested deeper than 32 levels`},

		// Shape.
		{`[]`, `1:1: a list of 0: want an object`},
		{`null`, `1:1: null: want an object`},
		{`"levels"`, `1:1: "levels": want an object`},
		{`{"reminder": true}`, `1:14: reminder: true: want an object`},
		{`{"reminder": null}`, `1:14: reminder: null: want an object`},
		{`{"reminder": [1]}`, `1:14: reminder: a list of one: want an object`},
		{`{"$schema": 1}`, `1:2: $schema: unknown key; want one of window, levels, modelLevels, tracking, reminder, handoff, compaction, trim, prune, metrics, usage, alerts, statusline, discovery, store, log`},

		// Keys.
		{`{"reminders": {}}`, `1:2: reminders: unknown key; did you mean reminder?`},
		{`{"Levels": []}`, `1:2: Levels: unknown key; did you mean levels?`},
		{`{"log": {"lveel": "info"}}`, `1:10: log.lveel: unknown key; did you mean log.level?`},
		{`{"log": {"colour": true}}`, `1:10: log.colour: unknown key; want one of level, path`},
		{`{"keepPrompts": true}`, `1:2: keepPrompts: unknown key; did you mean store.keepPrompts, that is "keepPrompts" inside "store"?`},
		{`{"tracking.maxTokens": 1}`, `1:2: tracking.maxTokens: unknown key; did you mean tracking.maxTokens, that is "maxTokens" inside "tracking"?`},
		{`{"window": {"levels": []}}`, `1:13: window.levels: unknown key; did you mean "levels", outside of any other?`},
		{"{\"a\x7f\u202eb c\": 1}", `1:2: "a\x7f\u202eb c": unknown key; want one of window, levels, modelLevels, tracking, reminder, handoff, compaction, trim, prune, metrics, usage, alerts, statusline, discovery, store, log`},
		{`{"": 1}`, `1:2: "": unknown key; want one of window, levels, modelLevels, tracking, reminder, handoff, compaction, trim, prune, metrics, usage, alerts, statusline, discovery, store, log`},
		{"{\"log\": {},\n\"log\": {}}", `2:1: log: set again, after line 1`},
		{"{\"log\": {\"level\": \"info\",\n\n\"l\\u0065vel\": \"warn\"}}", `3:1: log.level: set again, after line 1`},
		{`{"window": {"overrides": {"m": 1, "m": 1}}}`, `1:35: window.overrides.m: set again, after line 1`},

		// Values.
		{`{"reminder": {"enabled": 1}}`, `1:26: reminder.enabled: 1: want true or false`},
		{`{"reminder": {"enabled": "true"}}`, `1:26: reminder.enabled: "true": want true or false`},
		{`{"reminder": {"enabled": null}}`, `1:26: reminder.enabled: null: want true or false`},
		{`{"reminder": {"thresholdPercent": 0}}`, `1:35: reminder.thresholdPercent: 0: want a whole number from 1 to 100`},
		{`{"reminder": {"thresholdPercent": 101}}`, `1:35: reminder.thresholdPercent: 101: want a whole number from 1 to 100`},
		{`{"reminder": {"thresholdPercent": 70.5}}`, `1:35: reminder.thresholdPercent: 70.5: want a whole number from 1 to 100`},
		{`{"reminder": {"thresholdPercent": "70"}}`, `1:35: reminder.thresholdPercent: "70": want a whole number from 1 to 100`},
		{`{"reminder": {"thresholdPercent": [70]}}`, `1:35: reminder.thresholdPercent: a list of one: want a whole number from 1 to 100`},
		{`{"reminder": {"rearm": "Session"}}`, `1:24: reminder.rearm: "Session": want "session" or "compaction"`},
		{`{"log": {"level": "trace"}}`, `1:19: log.level: "trace": want "debug", "info", "warn" or "error"`},
		{`{"log": {"path": 7}}`, `1:18: log.path: 7: want a string`},
		{`{"reminder": {"actualLimitTokens": -1}}`, `1:36: reminder.actualLimitTokens: -1: want a whole number from 0 to 1000000000, or null`},
		{`{"usage": {"countOutput": "no"}}`, `1:27: usage.countOutput: "no": want true or false, or null`},
		{`{"metrics": {"alertRate": 1.5}}`, `1:27: metrics.alertRate: 1.5: want a number from 0 to 1`},
		{`{"metrics": {"alertRate": 1e999}}`, `1:27: metrics.alertRate: 1e999: want a number from 0 to 1`},
		{`{"trim": {"thresholdTokens": 99999999999999999999}}`, `1:30: trim.thresholdTokens: 99999999999999999999: want a whole number from 1 to 1000000000`},
		{`{"compaction": {"postCompactionPercent": 9}}`, `1:42: compaction.postCompactionPercent: 9: want a whole number from 10 to 60, or null`},
		{`{"tracking": {"maxTokens": 0}}`, `1:28: tracking.maxTokens: 0: want "auto" or a whole number from 1 to 1000000000, or null`},
		{`{"tracking": {"maxTokens": "Auto"}}`, `1:28: tracking.maxTokens: "Auto": want "auto" or a whole number from 1 to 1000000000, or null`},
		{`{"tracking": {"maxTokens": {}}}`, `1:28: tracking.maxTokens: an object: want "auto" or a whole number from 1 to 1000000000, or null`},
		{`{"levels": 50}`, `1:12: levels: 50: want a list of 3 whole numbers from 1 to 100`},
		{`{"levels": []}`, `1:12: levels: a list of 0: want a list of 3 whole numbers from 1 to 100`},
		{`{"levels": [50, "70", 101]}`, "1:17: levels[1]: \"70\": want a whole number from 1 to 100\n1:23: levels[2]: 101: want a whole number from 1 to 100"},
		{`{"window": {"overrides": []}}`, `1:26: window.overrides: a list of 0: want an object of whole numbers from 1 to 1000000000`},
		{`{"window": {"overrides": {"a b": "1m", "gpt-*": 0}}}`, "1:34: window.overrides.\"a b\": \"1m\": want a whole number from 1 to 1000000000\n1:49: window.overrides.gpt-*: 0: want a whole number from 1 to 1000000000"},
		{"{\"log\": {\"level\": \"\u202e\x7f\"}}", `1:19: log.level: "\u202e\x7f": want "debug", "info", "warn" or "error"`},
		{`{"log": {"level": "` + strings.Repeat("é", 50) + `"}}`, `1:19: log.level: "` + strings.Repeat("é", 30) + `…": want "debug", "info", "warn" or "error"`},

		// Mistakes in the combination of values.
		{"{\n\"levels\": [50, 50, 85]}", `2:1: levels: [50,50,85]: want three rising percentages, like [50,70,85]`},
		{`{"tracking": {"guardDir": "../other"}}`, `1:15: tracking.guardDir: "../other": want a relative path that stays inside the workspace`},
		{`{"tracking": {"guardDir": "/etc"}}`, `1:15: tracking.guardDir: "/etc": want a relative path that stays inside the workspace`},
		{`{"trim": {"thresholdTokens": 100000}}`, `1:2: trim.targetTokens: 180000: want at most trim.thresholdTokens (100000)`},
		{`{"trim": {"targetTokens": 200001}}`, `1:11: trim.targetTokens: 200001: want at most trim.thresholdTokens (200000)`},
		{`{"store": {"path": "state.db"}}`, `1:12: store.path: "state.db": want an absolute path, or one that begins with ~/`},
		{`{"window": {"overrides": {" ": 5}}}`, `1:13: window.overrides: an empty pattern: want a model id or a pattern with *`},
	} {
		path := filepath.Join(t.TempDir(), "config.json")
		writeString(t, path, test.text)
		config, problems := config.Load(config.Sources{UserFile: path})
		got := strings.ReplaceAll(join(problems), path+":", "")
		if diff := cmp.Diff(test.want+"\n", got); diff != "" {
			t.Errorf("%.200s\n(-want +got):\n%s", test.text, diff)
		}
		if diff := cmp.Diff(settings.Default(), config); diff != "" {
			t.Errorf("%.200s\nchanged the settings:\n%s", test.text, diff)
		}
	}
}

// A file with too many mistakes is reported up to the maximum, and ignored.
func TestManyMistakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".ctxls.json")
	var warnings strings.Builder
	warnings.WriteString(`{"log": {}, "store": {}, "levels": [10, 20, 30], "window": {"overrides": {`)
	for i := range 4000 {
		fmt.Fprintf(&warnings, `"m%d": 0, `, i)
	}
	warnings.WriteString(`}}}`)
	writeString(t, path, warnings.String())
	got, problems := config.Load(config.Sources{CWD: filepath.Dir(path)})
	if len(problems) != 100 {
		t.Errorf("%d problems, want the first 100", len(problems))
	}
	if diff := cmp.Diff(settings.Default(), got); diff != "" {
		t.Errorf("a file with errors counted:\n%s", diff)
	}
}

func BenchmarkLoad(b *testing.B) {
	home := b.TempDir()
	nothing := config.Sources{
		UserFile: filepath.Join(home, "config.json"),
		CWD:      filepath.Join(home, "src", "repo", "internal"),
		Home:     home,
		Env:      []string{"HOME=" + home, "PATH=/usr/bin", "CTXLS_DISABLE="},
	}
	b.Run("nothing set", func(b *testing.B) {
		for b.Loop() {
			config.Load(nothing)
		}
	})
	b.Run("editor set", func(b *testing.B) {
		set := nothing
		set.Client = config.Overlay{Name: "client", JSON: []byte(`{"levels": [40, 60, 80]}`)}
		for b.Loop() {
			config.Load(set)
		}
	})
}

// lines returns the lines of data that are not empty.
func lines(data []byte) []string {
	return slices.DeleteFunc(strings.Split(string(data), "\n"), func(s string) bool { return s == "" })
}

// join writes problems one a line.
func join(problems []config.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

// changes lists the settings that differ from the default, one a line.
func changes(t *testing.T, c settings.Config) string {
	got, usual := flat(t, c), flat(t, settings.Default())
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if got[key] != usual[key] {
			fmt.Fprintf(&b, "%s = %s\n", key, got[key])
		}
	}
	if w := c.Window.Workspace; w.Source != "" {
		overrides, _ := json.Marshal(w.Overrides)
		fmt.Fprintf(&b, "workspace's window.defaultTokens = %d\nworkspace's window.overrides = %s\n", w.DefaultTokens, overrides)
	}
	return b.String()
}

// flat returns the settings as JSON by dotted key.
func flat(t *testing.T, c settings.Config) map[string]string {
	var groups map[string]json.RawMessage
	all := map[string]string{}
	for group, data := range decode(t, c, &groups) {
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) != nil || group == "modelLevels" { // a table, not a group
			all[group] = string(data)
			continue
		}
		for name, value := range members {
			all[group+"."+name] = string(value)
		}
	}
	return all
}

func decode(t *testing.T, c settings.Config, groups *map[string]json.RawMessage) map[string]json.RawMessage {
	t.Helper()
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false)
	if err := e.Encode(c); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data.Bytes(), groups); err != nil {
		t.Fatal(err)
	}
	return *groups
}

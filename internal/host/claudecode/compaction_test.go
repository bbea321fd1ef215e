package claudecode

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core/model"
)

// The settings of where the host compacts, from every place where it reads them and in its order.
func TestCompactionSettings(t *testing.T) {
	const user, project, local, global = "home/.claude/settings.json", "work/.claude/settings.json", "work/.claude/settings.local.json", "home/.claude.json"
	for _, tt := range []struct {
		name  string
		env   map[string]string
		files map[string]string
		want  model.Settings
	}{
		{name: "nothing is set"},
		{name: "a window", env: map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "150000"}, want: model.Settings{Window: 150_000}},
		{name: "in thousands", env: map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "500k"}, want: model.Settings{Window: 500_000}},
		{name: "in millions", env: map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "0.5m"}, want: model.Settings{Window: 500_000}},
		{name: "a million", env: map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "1m"}, want: model.Settings{Window: 1_000_000}},
		{name: "with a comma", env: map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "150,000"}, want: model.Settings{Window: 150_000}},
		{name: "with a fraction", env: map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "150000.7"}, want: model.Settings{Window: 150_000}},
		{name: "too small", env: map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "500"}, want: model.Settings{Window: 100_000}},
		{name: "too large", env: map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "2000000"}, want: model.Settings{Window: 1_000_000}},
		{name: "auto", env: map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "auto"}},
		{name: "no number", env: map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "abc", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "NaN", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "-4"}},
		{name: "in the settings", files: map[string]string{user: `{"autoCompactWindow": 150000}`}, want: model.Settings{Window: 150_000}},
		{name: "too small there", files: map[string]string{user: `{"autoCompactWindow": 50000}`}},
		{name: "of a model, as /autocompact writes it", files: map[string]string{user: `{"modelSettings": {"claude-sonnet-4-5": {"autoCompactWindow": 150000}}}`},
			want: model.Settings{ModelWindows: map[string]int{"claude-sonnet-4-5": 150_000}}},
		{name: "auto for a model", files: map[string]string{user: `{"autoCompactWindow": 300000, "modelSettings": {"claude-sonnet-5": {"autoCompactWindow": "auto"}}}`},
			want: model.Settings{Window: 300_000, ModelWindows: map[string]int{"claude-sonnet-5": 0}}},
		{name: "the environment before the settings", env: map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "150000"},
			files: map[string]string{user: `{"autoCompactWindow": 300000, "modelSettings": {"claude-sonnet-5": {"autoCompactWindow": 400000}}}`}, want: model.Settings{Window: 150_000}},
		{name: "the workspace before the user, its own before all", files: map[string]string{user: `{"autoCompactWindow": 300000}`, project: `{"autoCompactWindow": 200000}`, local: `{"autoCompactWindow": 120000}`},
			want: model.Settings{Window: 120_000}},
		{name: "the environment that the settings make", files: map[string]string{user: `{"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": 8000}}`},
			want: model.Settings{Percent: 50, MaxOutput: 8_000}},
		{name: "a fractional percentage", env: map[string]string{"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": " 72.5 "}, want: model.Settings{Percent: 72.5}},
		{name: "percentages that are none", env: map[string]string{"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "101"}},
		{name: "off", env: map[string]string{"DISABLE_AUTO_COMPACT": "1"}, want: model.Settings{Off: true}},
		{name: "wholly off", env: map[string]string{"DISABLE_COMPACT": "true"}, want: model.Settings{Off: true, NeverCompacts: true}},
		{name: "not off", env: map[string]string{"DISABLE_COMPACT": "0", "DISABLE_AUTO_COMPACT": ""}},
		{name: "off in the settings", files: map[string]string{user: `{"autoCompactEnabled": false}`}, want: model.Settings{Off: true}},
		{name: "off in what the host keeps", files: map[string]string{global: `{"projects": {"/w": {"autoCompactEnabled": true}}, "autoCompactEnabled": false}`}, want: model.Settings{Off: true}},
		{name: "the longest answer, the window of unknown models, no long window", env: map[string]string{"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000",
			"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "128000", "CLAUDE_CODE_DISABLE_1M_CONTEXT": "True", "CLAUDE_CODE_DISABLE_UNKNOWN_MODEL_WINDOW_ENFORCEMENT": "1"},
			want: model.Settings{MaxOutput: 8_000, MaxContext: 128_000, MaxWindow: 200_000, UnknownOnRefusal: true}},
		{name: "a countdown of the window", files: map[string]string{user: `{"totalTokensReminder": "countdown"}`}, want: model.Settings{TrueCount: true}},
		{name: "no countdown", env: map[string]string{"CLAUDE_CODE_TOTAL_TOKENS_REMINDER": "off"}, files: map[string]string{user: `{"totalTokensReminder": "infinite"}`}, want: model.Settings{TrueCount: true}},
		{name: "another countdown", files: map[string]string{user: `{"totalTokensReminder": "padded-countdown"}`}},
		{name: "files that are none", files: map[string]string{user: `{"autoCompactWindow": 150000`, project: `[]`, local: "\x00"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			getenv := func(name string) string {
				if name == "HOME" || name == "USERPROFILE" {
					return filepath.Join(dir, "home")
				}
				return tt.env[name]
			}
			adapter := New(getenv)
			payload := []byte(`{"session_id":"s","hook_event_name":"SessionStart","cwd":` + strconv.Quote(filepath.Join(dir, "work")) + `}`)
			ev, err := adapter.Decode("", payload)
			if err != nil || ev.Settings == nil {
				t.Fatalf("%+v, %v", ev, err)
			}
			if diff := cmp.Diff(tt.want, *ev.Settings); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

// Files are read when a session starts and with each prompt, so that what /autocompact changes holds from then on; never while tools
// run, and never where the process is not the host's child.
func TestWhenSettingsAreRead(t *testing.T) {
	getenv := func(string) string { return "" }
	for event, read := range map[string]bool{"SessionStart": true, "UserPromptSubmit": true, "PreToolUse": false, "PostToolBatch": false, "Stop": false} {
		ev, err := New(getenv).Decode("", []byte(`{"session_id":"s","hook_event_name":"`+event+`"}`))
		if err != nil || (ev.Settings != nil) != read {
			t.Errorf("%s: %+v, %v", event, ev.Settings, err)
		}
	}
	if ev := mustDecode(t, "", `{"session_id":"s","hook_event_name":"SessionStart"}`); ev.Settings != nil {
		t.Errorf("without an environment: %+v", ev.Settings)
	}
}

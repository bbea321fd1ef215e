package gemini

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core/model"
)

// The share of the window at which Gemini CLI compacts, from every settings file and in Gemini CLI's order.
func TestCompactionSettings(t *testing.T) {
	const user, project, machine, defaults = "home/.gemini/settings.json", "work/.gemini/settings.json", "etc/settings.json", "etc/system-defaults.json"
	share := func(threshold string) string {
		return `{"model": {"name": "gemini-2.5-pro", "compressionThreshold": ` + threshold + `}}`
	}
	for _, tt := range []struct {
		name  string
		env   map[string]string
		files map[string]string
		want  model.Settings
	}{
		{name: "no settings file"},
		{name: "no threshold", files: map[string]string{user: `{"model": {"name": "gemini-2.5-pro"}}`}},
		{name: "the user's", files: map[string]string{user: share("0.7")}, want: model.Settings{Share: 0.7}},
		{name: "with comments", files: map[string]string{user: "{\n  // later\n  \"model\": {\"compressionThreshold\": 0.7} /* ! */\n}"}, want: model.Settings{Share: 0.7}},
		{name: "the project before the user", files: map[string]string{user: share("0.7"), project: share("0.2")}, want: model.Settings{Share: 0.2}},
		{name: "the machine before the project", files: map[string]string{machine: share("0.3"), project: share("0.2")}, want: model.Settings{Share: 0.3}},
		{name: "the machine's defaults after the user", files: map[string]string{defaults: share("0.3"), user: share("0.7")}, want: model.Settings{Share: 0.7}},
		{name: "the machine's defaults", files: map[string]string{defaults: share("0.3")}, want: model.Settings{Share: 0.3}},
		{name: "GEMINI_CLI_HOME", env: map[string]string{"GEMINI_CLI_HOME": "$DIR/other"}, files: map[string]string{"other/.gemini/settings.json": share("0.4"), user: share("0.7")}, want: model.Settings{Share: 0.4}},
		{name: "0 is none", files: map[string]string{user: share("0")}},
		{name: "above the window", files: map[string]string{user: share("1.5")}, want: model.Settings{Off: true}},
		{name: "no number", files: map[string]string{user: share(`"often"`)}},
		{name: "files that are none", files: map[string]string{user: `{"model": `, project: "\x00", machine: "[]"}},
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
			env := map[string]string{"HOME": "$DIR/home", "USERPROFILE": "$DIR/home", "GEMINI_CLI_SYSTEM_SETTINGS_PATH": "$DIR/etc/settings.json"}
			for name, value := range tt.env {
				env[name] = value
			}
			getenv := func(name string) string { return strings.ReplaceAll(env[name], "$DIR", dir) }
			cwd := strings.ReplaceAll(filepath.Join(dir, "work"), `\`, `\\`)
			ev, err := New(getenv).Decode("", []byte(`{"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": "`+cwd+`"}`))
			if err != nil || ev.Settings == nil {
				t.Fatalf("%+v, %v", ev, err)
			}
			if diff := cmp.Diff(tt.want, *ev.Settings); diff != "" {
				t.Error(diff)
			}
		})
	}
}

package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core/model"
)

// The limit at which Codex compacts, from every settings file that a hook can see, in Codex' order.
func TestCompactionSettings(t *testing.T) {
	const user, other = "home/.codex/config.toml", "elsewhere/config.toml"
	const root, below = "work/.codex/config.toml", "work/pkg/.codex/config.toml"
	const trusted = "\n[projects.\"$DIR/work\"]\ntrust_level = \"trusted\"\n"
	limit := func(n int) model.Settings { return model.Settings{Point: n} }
	for _, tt := range []struct {
		name  string
		env   map[string]string
		files map[string]string
		want  model.Settings
	}{
		{name: "no settings file"},
		{name: "no limit", files: map[string]string{user: "model = \"gpt-5.5\"\n"}},
		{name: "the user's", files: map[string]string{user: "model_auto_compact_token_limit = 200000\n"}, want: limit(200_000)},
		{name: "with separators and a comment", files: map[string]string{user: "model_auto_compact_token_limit = 200_000 # soon\r\n"}, want: limit(200_000)},
		{name: "in a table", files: map[string]string{user: "[profiles.x]\nmodel_auto_compact_token_limit = 200000\n"}},
		{name: "in a comment", files: map[string]string{user: "# model_auto_compact_token_limit = 200000\n"}},
		{name: "no positive number", files: map[string]string{user: "model_auto_compact_token_limit = -1\n"}},
		{name: "no number", files: map[string]string{user: "model_auto_compact_token_limit = \"soon\"\n"}},
		{name: "CODEX_HOME", env: map[string]string{"CODEX_HOME": "$DIR/elsewhere"}, files: map[string]string{user: "model_auto_compact_token_limit = 1\n", other: "model_auto_compact_token_limit = 150000\n"}, want: limit(150_000)},
		{name: "the project before the user", files: map[string]string{user: "model_auto_compact_token_limit = 200000" + trusted, root: "model_auto_compact_token_limit = 100000\n"}, want: limit(100_000)},
		{name: "the nearest directory of the project", files: map[string]string{user: trusted, root: "model_auto_compact_token_limit = 100000\n", below: "model_auto_compact_token_limit = 90000\n"}, want: limit(90_000)},
		{name: "a project that is not trusted", files: map[string]string{user: "model_auto_compact_token_limit = 200000\n", root: "model_auto_compact_token_limit = 100000\n"}, want: limit(200_000)},
		{name: "of all tokens", files: map[string]string{user: "model_auto_compact_token_limit = 200000\nmodel_auto_compact_token_limit_scope = \"total\"\n"}, want: limit(200_000)},
		{name: "of the tokens after the prefix", files: map[string]string{user: "model_auto_compact_token_limit = 200000\nmodel_auto_compact_token_limit_scope = \"body_after_prefix\"\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, made := range []string{"work/.git", "work/pkg"} {
				if err := os.MkdirAll(filepath.Join(dir, made), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range tt.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "$DIR", filepath.ToSlash(dir))), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			getenv := func(name string) string {
				if name == "HOME" || name == "USERPROFILE" {
					return filepath.Join(dir, "home")
				}
				return strings.ReplaceAll(tt.env[name], "$DIR", dir)
			}
			cwd := strings.ReplaceAll(filepath.Join(dir, "work", "pkg"), `\`, `\\`)
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

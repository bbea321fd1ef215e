package claudecode

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxls/ctxls/internal/check"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// doctor reports a figure that the host tells its models beside the marks, and only where ctxls says marks.
func TestCheckCountdown(t *testing.T) {
	installed := []host.Place{{Scope: settings.User, Own: []settings.Own{{}}}}
	for _, tt := range []struct {
		name, env, settings string
		places              []host.Place
		want                check.Status // "" is no check at all
	}{
		{name: "not installed", places: []host.Place{{Scope: settings.User}}},
		{name: "by default", places: installed, want: check.Skip},
		{name: "the rest of the window", places: installed, settings: `{"totalTokensReminder": "countdown"}`, want: check.OK},
		{name: "off", places: installed, settings: `{"totalTokensReminder": "off"}`, want: check.OK},
		{name: "another mode", places: installed, settings: `{"totalTokensReminder": "infinite"}`, want: check.Skip},
		{name: "the environment first", places: installed, env: "off", settings: `{"totalTokensReminder": "infinite"}`, want: check.OK},
		{name: "the environment that the settings make", places: installed, settings: `{"env": {"CLAUDE_CODE_TOTAL_TOKENS_REMINDER": "off"}}`, want: check.OK},
	} {
		home := t.TempDir()
		if err := os.MkdirAll(filepath.Join(home, ".claude"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".claude", "settings.json"), []byte(tt.settings), 0o600); err != nil {
			t.Fatal(err)
		}
		getenv := func(name string) string { return map[string]string{"CLAUDE_CODE_TOTAL_TOKENS_REMINDER": tt.env}[name] }
		var got check.Status
		for _, c := range (Installer{}).Check(host.Env{Getenv: getenv, Home: home}, tt.places) {
			got = c.Status
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

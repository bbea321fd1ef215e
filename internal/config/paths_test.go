package config_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/config"
)

func TestUserFile(t *testing.T) {
	type env = map[string]string
	for _, test := range []struct {
		goos string
		env  env
		home string
		want string
	}{
		{"linux", nil, "/home/ada", "/home/ada/.config/ctxls/config.json"},
		{"linux", nil, "/home/ada/", "/home/ada/.config/ctxls/config.json"},
		{"linux", nil, "/", "/.config/ctxls/config.json"},
		{"linux", env{"XDG_CONFIG_HOME": "/etc/ada"}, "/home/ada", "/etc/ada/ctxls/config.json"},
		{"linux", env{"XDG_CONFIG_HOME": "/etc/ada/"}, "", "/etc/ada/ctxls/config.json"},
		{"linux", env{"XDG_CONFIG_HOME": "relative"}, "/home/ada", "/home/ada/.config/ctxls/config.json"},
		{"linux", env{"AppData": "/somewhere"}, "/home/ada", "/home/ada/.config/ctxls/config.json"},
		{"linux", nil, "", ""},
		{"linux", nil, "relative", ""},
		{"freebsd", nil, "/home/ada", "/home/ada/.config/ctxls/config.json"},
		{"darwin", nil, "/Users/ada", "/Users/ada/Library/Application Support/ctxls/config.json"},
		{"darwin", env{"XDG_CONFIG_HOME": "/Users/ada/.config"}, "/Users/ada", "/Users/ada/.config/ctxls/config.json"},
		{"windows", env{"AppData": `C:\Users\ada\AppData\Roaming`}, `C:\Users\ada`, `C:\Users\ada\AppData\Roaming\ctxls\config.json`},
		{"windows", env{"AppData": `\\server\ada`}, `C:\Users\ada`, `\\server\ada\ctxls\config.json`},
		{"windows", env{"AppData": `AppData`}, `C:\Users\ada`, `C:\Users\ada\AppData\Roaming\ctxls\config.json`},
		{"windows", nil, `C:\Users\ada\`, `C:\Users\ada\AppData\Roaming\ctxls\config.json`},
		{"windows", nil, `C:/Users/ada`, `C:/Users/ada\AppData\Roaming\ctxls\config.json`},
		{"windows", env{"XDG_CONFIG_HOME": `D:\config`, "AppData": `C:\A`}, `C:\Users\ada`, `D:\config\ctxls\config.json`},
		{"windows", env{"XDG_CONFIG_HOME": `/config`, "AppData": `C:\A`}, `C:\Users\ada`, `C:\A\ctxls\config.json`},
		{"windows", nil, ``, ``},
	} {
		getenv := func(name string) string { return test.env[name] }
		if got := config.UserFile(test.goos, getenv, test.home); got != test.want {
			t.Errorf("UserFile(%s, %v, %s) = %s, want %s", test.goos, test.env, test.home, got, test.want)
		}
	}
}

func TestWorkspaceFile(t *testing.T) {
	top := t.TempDir()
	for _, file := range []string{
		".ctxls.json",
		"home/project/.ctxls.json",
		"home/project/sub/deep/file",
		"home/clone/.git/HEAD",
		"home/clone/sub/file",
		"home/loose/file",
		"elsewhere/file",
	} {
		writeString(t, filepath.Join(top, file), "{}")
	}
	home := filepath.Join(top, "home")
	for cwd, want := range map[string]string{
		"home/project":                ".ctxls.json of home/project",
		"home/project/sub/deep":       ".ctxls.json of home/project",
		"home/project/sub/../sub/":    ".ctxls.json of home/project",
		"home/project/gone/long/gone": ".ctxls.json of home/project",
		"home/clone/sub":              "", // the search ends at .git
		"home/loose":                  "", // the search ends at home
		"home":                        "",
		"elsewhere":                   ".ctxls.json of .", // outside home, up to the root
	} {
		got := config.WorkspaceFile(top+"/"+cwd, home)
		if got != "" {
			dir, err := filepath.Rel(top, filepath.Dir(got))
			if err != nil {
				t.Fatal(err)
			}
			got = filepath.Base(got) + " of " + filepath.ToSlash(dir)
		}
		if got != want {
			t.Errorf("WorkspaceFile(%s) = %q, want %q", cwd, got, want)
		}
	}
	for _, cwd := range []string{"", ".", "home/project"} {
		if got := config.WorkspaceFile(cwd, home); got != "" {
			t.Errorf("WorkspaceFile(%q) = %q, want none for a path that is not absolute", cwd, got)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	user, workspace := filepath.Join(dir, "config.json"), filepath.Join(dir, ".ctxls.json")
	got := config.Files(config.Sources{UserFile: user, CWD: dir, Home: dir})
	if diff := cmp.Diff([]config.File{{"user", user, false}}, got); diff != "" {
		t.Errorf("without files (-want +got):\n%s", diff)
	}
	writeString(t, user, "{")
	writeString(t, workspace, "{}")
	got = config.Files(config.Sources{UserFile: user, CWD: dir, Home: dir})
	if diff := cmp.Diff([]config.File{{"user", user, true}, {"workspace", workspace, true}}, got); diff != "" {
		t.Errorf("with files (-want +got):\n%s", diff)
	}
}

func TestEnvName(t *testing.T) {
	for key, want := range map[string]string{
		"levels":                    "CTXLS_LEVELS",
		"log.path":                  "CTXLS_LOG_PATH",
		"reminder.thresholdPercent": "CTXLS_REMINDER_THRESHOLD_PERCENT",
		"metrics.alertIntervalMs":   "CTXLS_METRICS_ALERT_INTERVAL_MS",
	} {
		if got := config.EnvName(key); got != want {
			t.Errorf("EnvName(%s) = %s, want %s", key, got, want)
		}
	}
}

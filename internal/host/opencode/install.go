package opencode

import (
	"bytes"
	"encoding/json"
	"path/filepath"

	plugin "github.com/ctxls/ctxls/adapters/opencode"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// Host is OpenCode for the registry.
var Host = host.Host{
	Name:      Name,
	Title:     "OpenCode",
	Records:   func(env host.Env) core.Recorder { return NewRecords(env) },
	Adapter:   func(func(string) string) core.Adapter { return New() },
	Installer: Installer{},
}

// Installer implements host.Installer: it adds a plugin, a file of its own.
type Installer struct{}

// Profile returns the profile of OpenCode.
func (Installer) Profile() host.Profile {
	return host.Profile{
		Program: "opencode", Scopes: []settings.Scope{settings.User, settings.Project}, HomeVar: "XDG_CONFIG_HOME", FallsBackToPath: true,
	}
}

// SettingsFile returns the plugin's file of a scope. OpenCode loads every module in the directories plugin and plugins beside its
// settings; versions before 1.0 know only the former.
func (Installer) SettingsFile(scope settings.Scope, env host.Env) string {
	dir := filepath.Join(env.CWD, ".opencode")
	if scope == settings.User {
		dir = userDir(env)
	}
	return filepath.Join(dir, "plugin", "ctxls.js")
}

// userDir returns the directory in which OpenCode keeps the user's settings.
func userDir(env host.Env) string {
	dir := env.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Home, ".config")
	}
	return filepath.Join(dir, "opencode")
}

// mark is the beginning of every version of the ctxls plugin; other files belong to the user.
var mark = []byte("// ctxls plugin for OpenCode.")

// named begins the line of the source that names the program, and unset is that line as install finds it.
var (
	named = []byte("const INSTALLED = ")
	unset = []byte(`const INSTALLED = "" `)
)

// Install implements host.Installer. A file that is not our plugin is an error with coded.Invalid.
func (Installer) Install(name string, text []byte, executable string, _ bool) (after []byte, done []string, err error) {
	if text != nil && !bytes.HasPrefix(text, mark) {
		return nil, nil, coded.Errorf(coded.Invalid, "%s: is not the plugin of ctxls; it is left alone, move it away first", name)
	}
	path, err := json.Marshal(executable)
	if err != nil {
		return nil, nil, err
	}
	after = bytes.Replace(plugin.Plugin, unset, append(append(bytes.Clone(named), path...), ' '), 1)
	switch {
	case bytes.Equal(after, text):
		return text, nil, nil
	case text == nil:
		return after, []string{"plugin added"}, nil
	}
	return after, []string{"plugin of another version, or of another ctxls, replaced by this one's"}, nil
}

// Blocked implements host.Installer: nothing switches a plugin off.
func (Installer) Blocked([]byte, bool) []string { return nil }

// Installed implements host.Installer: the plugin, with the program that it names.
func (Installer) Installed(text []byte) []settings.Own {
	if !bytes.HasPrefix(text, mark) {
		return nil
	}
	own := settings.Own{Place: "plugin"}
	if _, line, ok := bytes.Cut(text, named); ok {
		_ = json.NewDecoder(bytes.NewReader(line)).Decode(&own.Program) // what is no string names no program
	}
	return []settings.Own{own}
}

// Servers implements host.Installer: the servers of the user and of the project.
func (Installer) Servers(env host.Env) (own []settings.Own) {
	for _, dir := range []string{userDir(env), env.CWD} {
		for _, name := range []string{"opencode.json", "opencode.jsonc"} {
			own = append(own, settings.OwnServers(filepath.Join(dir, name), "mcp")...)
		}
	}
	return own
}

// Uninstall implements host.Installer. A file that is not our plugin stays as it is.
func (Installer) Uninstall(_ string, text, _ []byte) (after []byte, done []string, err error) {
	if text == nil || !bytes.HasPrefix(text, mark) {
		return text, nil, nil
	}
	return nil, []string{"plugin removed"}, nil
}

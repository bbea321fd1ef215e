package opencode

import (
	"path/filepath"

	plugin "github.com/ctxls/ctxls/adapters/opencode"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// Host is OpenCode for the registry.
var Host = host.Host{
	Name:      Name,
	Title:     "OpenCode",
	Records:   func(env host.Env) core.Recorder { return NewRecords(env) },
	Adapter:   func(func(string) string) core.Adapter { return New() },
	Installer: Installer{settings.Plugin{Source: plugin.Plugin, Kind: "plugin", Mark: "// ctxls plugin for OpenCode."}},
}

// Installer implements host.Installer: it adds a plugin, a file of its own.
type Installer struct{ settings.Plugin }

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

// Servers implements host.Installer: the servers of the user and of the project.
func (Installer) Servers(env host.Env) (own []settings.Own) {
	for _, dir := range []string{userDir(env), env.CWD} {
		for _, name := range []string{"opencode.json", "opencode.jsonc"} {
			own = append(own, settings.OwnServers(filepath.Join(dir, name), "mcp")...)
		}
	}
	return own
}

package pi

import (
	"path/filepath"

	extension "github.com/ctxls/ctxls/adapters/pi"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// Host is pi for the registry.
var Host = host.Host{
	Name:      Name,
	Title:     "pi",
	Records:   func(env host.Env) core.Recorder { return NewRecords(env) },
	Adapter:   func(func(string) string) core.Adapter { return New() },
	Installer: Installer{settings.Plugin{Source: extension.Extension, Kind: "extension", Mark: "// ctxls extension for pi."}},
}

// Installer implements host.Installer: it adds an extension, a file of its own.
type Installer struct{ settings.Plugin }

// Profile returns the profile of pi.
func (Installer) Profile() host.Profile {
	return host.Profile{
		Program: "pi", Scopes: []settings.Scope{settings.User, settings.Project}, HomeVar: "PI_CODING_AGENT_DIR", FallsBackToPath: true,
	}
}

// SettingsFile returns the extension's file of a scope.
func (Installer) SettingsFile(scope settings.Scope, env host.Env) string {
	if scope == settings.Project {
		return filepath.Join(env.CWD, ".pi", "extensions", "ctxls.js")
	}
	return filepath.Join(dir(env), "extensions", "ctxls.js")
}

// Servers implements host.Installer: pi has no MCP servers.
func (Installer) Servers(host.Env) []settings.Own { return nil }

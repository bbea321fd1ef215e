package qwen

import (
	"path/filepath"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// hookTimeout is how long Qwen Code waits for one hook, in seconds, which would be a minute otherwise. ctxls gives up after half a
// second by itself; this is for a machine that does not get round to running it.
const hookTimeout = 5

// Hooks are the events that ctxls has to be run at, the fewest that tell everything.
var Hooks = []settings.Hook{
	{Event: "SessionStart", Timeout: hookTimeout},     // begun or resumed; after a compaction what the summary lost
	{Event: "UserPromptSubmit", Timeout: hookTimeout}, // the mark, and what it means; a turn begins
	{Event: "PostToolBatch", Timeout: hookTimeout},    // usage, paths; the reminder
	{Event: "PreCompact", Timeout: hookTimeout},       // the files in use, for the summary
	{Event: "SubagentStop", Timeout: hookTimeout},     // a sub-agent's own usage
	{Event: "Stop", Timeout: hookTimeout},             // the window; a turn ends
	{Event: "SessionEnd", Timeout: hookTimeout},
}

// Host is Qwen Code for the registry.
var Host = host.Host{
	Name:      Name,
	Title:     "Qwen Code",
	Records:   func(env host.Env) core.Recorder { return NewRecords(env) },
	Adapter:   func(func(string) string) core.Adapter { return New() },
	Installer: Installer{settings.Hooks{Host: Name, Events: Hooks}},
}

// Installer implements host.Installer.
type Installer struct{ settings.Hooks }

// Profile returns the profile of Qwen Code. It runs the hooks of both scopes.
func (i Installer) Profile() host.Profile {
	return host.Profile{
		Program: "qwen", Scopes: []settings.Scope{settings.User, settings.Project}, HomeVar: "QWEN_HOME", Events: i.Events, Deduplicates: true,
	}
}

// SettingsFile returns the settings file of a scope.
func (Installer) SettingsFile(scope settings.Scope, env host.Env) string {
	if scope == settings.Project {
		return filepath.Join(env.CWD, ".qwen", "settings.json")
	}
	return filepath.Join(dir(env.Getenv, env.Home), "settings.json")
}

// Install implements host.Installer.
func (i Installer) Install(name string, text []byte, executable string, _ bool) (after []byte, done []string, err error) {
	after, done, err = i.Hooks.Install(name, text, settings.ShellNamed(Name, executable))
	if len(done) > 0 {
		done = append(done, i.Blocked(text, true)...)
	}
	return after, done, err
}

// Blocked implements host.Installer. What switches hooks off in one file does so for all files.
func (Installer) Blocked(text []byte, _ bool) []string {
	if doc, err := settings.Parse("", text); err == nil && doc.True("disableAllHooks") {
		return []string{"note: disableAllHooks is set there: Qwen Code runs no hook until it is not"}
	}
	return nil
}

// Servers implements host.Installer: the servers of the user and of the project.
func (i Installer) Servers(env host.Env) (own []settings.Own) {
	for _, scope := range i.Profile().Scopes {
		own = append(own, settings.OwnServers(i.SettingsFile(scope, env), "mcpServers")...)
	}
	return own
}

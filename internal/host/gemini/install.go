package gemini

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// hookTimeout is how long Gemini CLI waits for one hook, in milliseconds, which would be a minute otherwise. ctxls gives up after
// half a second by itself; this is for a machine that does not get round to running it.
const hookTimeout = 5000

// Hooks are the events that ctxls has to be run at, the fewest that tell everything.
//
// PreCompress, BeforeModel and BeforeToolSelection come before every request and tell nothing; BeforeTool says nothing that
// AfterTool does not, and takes no text.
var Hooks = []settings.Hook{
	{Event: "SessionStart", Timeout: hookTimeout}, // begun, resumed or cleared
	{Event: "BeforeAgent", Timeout: hookTimeout},  // the mark, and what it means; a turn begins
	{Event: "AfterModel", Timeout: hookTimeout},   // usage
	{Event: "AfterTool", Timeout: hookTimeout},    // paths; what a compaction lost
	{Event: "AfterAgent", Timeout: hookTimeout},   // a turn ends
	{Event: "SessionEnd", Timeout: hookTimeout},
}

// Host is Gemini CLI for the registry. It shows the user what stands on standard error where standard output is empty.
var Host = host.Host{
	Name:        Name,
	Title:       "Gemini CLI",
	Records:     func(env host.Env) core.Recorder { return NewRecords(env) },
	Adapter:     func(getenv func(string) string) core.Adapter { return New(getenv) },
	Installer:   Installer{},
	ShowsStderr: true,
}

// Installer implements host.Installer.
type Installer struct{}

// Profile returns the profile of Gemini CLI. It runs the hooks of both scopes, and the same hook once.
func (Installer) Profile() host.Profile {
	return host.Profile{
		Program: "gemini", Scopes: []settings.Scope{settings.User, settings.Project}, HomeVar: "GEMINI_CLI_HOME", Events: Hooks,
		Advice: "Gemini CLI runs hooks only in folders that you trust: /permissions trust in gemini makes this one",
	}
}

// SettingsFile returns the settings file of a scope.
func (Installer) SettingsFile(scope settings.Scope, env host.Env) string {
	dir := env.CWD
	if scope == settings.User {
		dir = cmp.Or(env.Getenv("GEMINI_CLI_HOME"), env.Home)
	}
	return filepath.Join(dir, ".gemini", "settings.json")
}

// Install implements host.Installer.
func (i Installer) Install(name string, text []byte, executable string, _ bool) (after []byte, done []string, err error) {
	doc, err := settings.Parse(name, text)
	if err != nil {
		return nil, nil, err
	}
	added, moved, err := doc.AddHooks(Name, settings.Exec(Name, executable), Hooks)
	if err != nil {
		return nil, nil, err
	}
	if done = settings.HooksDone(added, moved); len(done) == 0 {
		return text, nil, nil
	}
	return doc.Bytes(), append(done, i.Blocked(text, true)...), nil
}

// Blocked implements host.Installer. What switches hooks off in one file does so for all files.
func (Installer) Blocked(text []byte, _ bool) (notes []string) {
	doc, err := settings.Parse("", text)
	if err != nil {
		return nil
	}
	if doc.Raw("hooksConfig", "enabled") == "false" {
		notes = append(notes, "note: hooksConfig.enabled is false there: Gemini CLI runs no hook until it is not")
	}
	if strings.Contains(doc.Raw("hooksConfig", "disabled"), `"ctxls"`) {
		notes = append(notes, "note: hooksConfig.disabled names ctxls there: '/hooks enable ctxls' in Gemini CLI lets it run")
	}
	return notes
}

// Installed implements host.Installer.
func (Installer) Installed(text []byte) []settings.Own {
	return settings.OwnHooks(text, Name)
}

// Servers implements host.Installer: the servers of the user and of the project.
func (i Installer) Servers(env host.Env) (own []settings.Own) {
	for _, scope := range i.Profile().Scopes {
		own = append(own, settings.OwnServers(i.SettingsFile(scope, env), "mcpServers")...)
	}
	return own
}

// Uninstall implements host.Installer; see settings.Uninstall.
func (Installer) Uninstall(name string, text, before []byte) (after []byte, done []string, err error) {
	return settings.Uninstall(name, text, before, Name, nil)
}

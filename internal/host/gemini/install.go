package gemini

import (
	"path/filepath"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
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

// Scopes are the scopes that Gemini CLI has. The hooks of both run, the same hook once.
var Scopes = []settings.Scope{settings.User, settings.Project}

// SettingsFile returns the file of a scope, for a home and a working directory.
func SettingsFile(scope settings.Scope, getenv func(string) string, home, cwd string) string {
	if scope == settings.Project {
		return filepath.Join(cwd, ".gemini", "settings.json")
	}
	if dir := getenv("GEMINI_CLI_HOME"); dir != "" {
		home = dir
	}
	return filepath.Join(home, ".gemini", "settings.json")
}

// Install returns a settings text in which Gemini CLI runs executable, an absolute path, at every event of Hooks. done says what was
// changed, one sentence each; none means that nothing had to be. name is the file's, for errors. text is nil where there is no
// file yet.
func Install(name string, text []byte, executable string) (after []byte, done []string, err error) {
	doc, err := settings.Parse(name, text)
	if err != nil {
		return nil, nil, err
	}
	added, moved, err := doc.AddHooks(core.HostGeminiCLI, settings.Exec(core.HostGeminiCLI, executable), Hooks)
	if err != nil {
		return nil, nil, err
	}
	if done = settings.HooksDone(added, moved); len(done) == 0 {
		return text, nil, nil
	}
	return doc.Bytes(), append(done, Notes(text)...), nil
}

// Notes says why Gemini CLI does not run what stands in a settings text, one sentence each.
func Notes(text []byte) (notes []string) {
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

// OwnServers returns the MCP servers of Gemini CLI that are ctxls, of the user and of the project.
func OwnServers(getenv func(string) string, home, cwd string) (own []settings.Own) {
	for _, scope := range Scopes {
		own = append(own, settings.OwnServers(SettingsFile(scope, getenv, home, cwd), "mcpServers")...)
	}
	return own
}

// Uninstall returns a settings text without anything that runs ctxls; see settings.Uninstall.
func Uninstall(name string, text, before []byte) (after []byte, done []string, err error) {
	return settings.Uninstall(name, text, before, core.HostGeminiCLI, nil)
}

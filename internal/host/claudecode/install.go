package claudecode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// hookTimeout is how long Claude Code waits for one hook, in seconds. ctxls gives up after half a second by itself; this is for
// a machine that does not get round to running it, and lifts the 1.5 seconds that the host otherwise grants a session's end.
const hookTimeout = 5

// Hooks are the events that ctxls has to be run at, the fewest that tell everything.
//
// PreToolUse and PostToolUse are not among them: they run twice a call, up to a dozen at once, and one PostToolBatch carries
// all their paths, failed calls included, at the moment when the transcript is up to date. PostToolUseFailure and
// SubagentStart say nothing more either; Notification, InstructionsLoaded and the rest tell nothing of the context.
var Hooks = []settings.Hook{
	{Event: "SessionStart", Timeout: hookTimeout},     // what the marks mean; resumed, cleared, compacted
	{Event: "UserPromptSubmit", Timeout: hookTimeout}, // the mark; what a compaction lost; a turn begins
	{Event: "PostToolBatch", Timeout: hookTimeout},    // usage, paths; the reminder
	{Event: "PreCompact", Timeout: hookTimeout},       // the working context, for the model that writes the summary
	{Event: "PostCompact", Timeout: hookTimeout},      // the summary
	{Event: "SubagentStop", Timeout: hookTimeout},     // a sub-agent's own usage
	{Event: "Stop", Timeout: hookTimeout},             // a turn ends
	{Event: "StopFailure", Timeout: hookTimeout},      // a refusal states the window
	{Event: "SessionEnd", Timeout: hookTimeout},
}

// Scopes are the scopes that Claude Code has. Of settings that exclude each other, such as the status line, those of a later
// one win (https://code.claude.com/docs/en/settings).
var Scopes = []settings.Scope{settings.User, settings.Project, settings.Local}

// SettingsFile returns the file of a scope, for a home and a working directory.
func SettingsFile(scope settings.Scope, getenv func(string) string, home, cwd string) string {
	switch scope {
	case settings.Project:
		return filepath.Join(cwd, ".claude", "settings.json")
	case settings.Local:
		return filepath.Join(cwd, ".claude", "settings.local.json")
	}
	if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, "settings.json")
	}
	return filepath.Join(home, ".claude", "settings.json")
}

// statusLineMember is where settings hold the status line.
const statusLineMember = "statusLine"

// Install returns a settings text in which Claude Code runs executable, an absolute path, at every event of Hooks, and as its
// status line where statusline is set; a status line that was there is run by ours and stays. done says what was changed, one
// sentence each; none means that nothing had to be. name is the file's, for errors. text is nil where there is no file yet.
func Install(name string, text []byte, executable string, statusline bool) (after []byte, done []string, err error) {
	executable = strings.ReplaceAll(executable, `\`, "/")
	doc, err := settings.Parse(name, text)
	if err != nil {
		return nil, nil, err
	}
	added, moved, err := doc.AddHooks(core.HostClaudeCode, settings.Direct(core.HostClaudeCode, executable), Hooks)
	if err != nil {
		return nil, nil, err
	}
	done = settings.HooksDone(added, moved)
	if statusline {
		command, there, err := doc.Command(statusLineMember)
		if err != nil {
			return nil, nil, err
		}
		line, own := parseStatusLine(command)
		switch {
		case !there:
			done = append(done, "status line added")
		case !own:
			line = ownLine{then: command, wraps: true}
			done = append(done, fmt.Sprintf("status line added; yours (%s) follows it", core.Sanitize(command, 80)))
		case line.executable != executable:
			done = append(done, "the status line, which ran another ctxls, now runs this one")
		}
		if line.executable != executable {
			line.executable = executable
			doc.SetCommand(statusLineMember, line.String(), nil)
		}
	}
	if len(done) == 0 {
		return text, nil, nil
	}
	return doc.Bytes(), append(done, Notes(text)...), nil
}

// Notes says why Claude Code does not run what stands in a settings text, one sentence each.
func Notes(text []byte) (notes []string) {
	doc, err := settings.Parse("", text)
	if err != nil {
		return nil
	}
	if !doc.Standard() { // its "Settings Error": "Files with errors are skipped entirely"
		notes = append(notes, "note: the file has comments or trailing commas, and Claude Code skips such a file until they are gone")
	}
	if doc.True("disableAllHooks") {
		notes = append(notes, "note: disableAllHooks is true there: Claude Code runs no hook and no status line until it is not")
	}
	return notes
}

// Off says why Claude Code runs no hook of any scope where a settings text counts, one sentence each.
func Off(text []byte) []string {
	if doc, err := settings.Parse("", text); err != nil || !doc.Standard() { // it is skipped, and so switches nothing off
		return nil
	}
	return Notes(text)
}

// HasStatusLine reports whether a settings text sets a status line, ours or any.
func HasStatusLine(text []byte) bool {
	there, _, _ := StatusLine(text)
	return there
}

// StatusLine reports whether a settings text sets a status line. program is the ctxls that it runs, "" where it is not ours;
// then is the command that ours runs in turn, or the one that is not ours.
func StatusLine(text []byte) (there bool, program, then string) {
	doc, err := settings.Parse("", text)
	if err != nil {
		return false, "", ""
	}
	command, there, err := doc.Command(statusLineMember)
	if line, own := parseStatusLine(command); own {
		return true, line.executable, line.then
	}
	return there || err != nil, "", command
}

// OwnHooks returns the hooks of a settings text that run ctxls. A plugin of that name which the text enables is one more, with a
// program of the PATH: as the plugin is made, and as nobody can put it otherwise.
func OwnHooks(text []byte) []settings.Own {
	return append(settings.OwnHooks(text, core.HostClaudeCode), plugins(text)...)
}

// PluginPlace begins the place of a plugin.
const PluginPlace = "plugin "

// plugins returns the plugins called ctxls that a settings text enables, whatever marketplace they are from.
func plugins(text []byte) (own []settings.Own) {
	doc, err := settings.Parse("", text)
	if err != nil {
		return nil
	}
	var enabled map[string]any // true; other values are versions, and false
	_ = json.Unmarshal([]byte(doc.Raw("enabledPlugins")), &enabled)
	for _, name := range slices.Sorted(maps.Keys(enabled)) {
		if strings.HasPrefix(name, "ctxls@") && enabled[name] != false {
			own = append(own, settings.Own{Place: PluginPlace + name, Program: "ctxls"})
		}
	}
	return own
}

// OwnServers returns the MCP servers of Claude Code that are ctxls: of the user, of the project, and of the user in the project.
func OwnServers(getenv func(string) string, home, cwd string) []settings.Own {
	own := filepath.Join(cmp.Or(getenv("CLAUDE_CONFIG_DIR"), home), ".claude.json")
	return slices.Concat(settings.OwnServers(own, "mcpServers"), settings.OwnServers(own, "projects", cwd, "mcpServers"),
		settings.OwnServers(filepath.Join(cwd, ".mcp.json"), "mcpServers"))
}

// Uninstall returns a settings text without anything that runs ctxls; see settings.Uninstall.
func Uninstall(name string, text, before []byte) (after []byte, done []string, err error) {
	return settings.Uninstall(name, text, before, core.HostClaudeCode, removeStatusLine)
}

func removeStatusLine(doc, was *settings.Document) []string {
	command, there, err := doc.Command(statusLineMember)
	if !there || err != nil {
		return nil
	}
	switch line, own := parseStatusLine(command); {
	case own && line.wraps:
		doc.SetCommand(statusLineMember, line.then, was)
		return []string{"status line removed; yours is as it was"}
	case own:
		doc.RemoveCommand(statusLineMember)
		return []string{"status line removed"}
	}
	return nil
}

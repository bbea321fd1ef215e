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
	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host"
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

// Host is Claude Code for the registry.
var Host = host.Host{
	Name:      Name,
	Title:     "Claude Code",
	Records:   func(env host.Env) core.Recorder { return NewRecords(env) },
	Adapter:   func(getenv func(string) string) core.Adapter { return New(getenv) },
	Installer: Installer{},
}

// Installer implements host.Installer, host.StatusLiner, host.AgentLiner and host.Checker.
type Installer struct{}

// Profile returns the profile of Claude Code. Of settings that exclude each other, such as the status line, those of a later
// scope win (https://code.claude.com/docs/en/settings).
func (Installer) Profile() host.Profile {
	return host.Profile{
		Program: "claude", Scopes: []settings.Scope{settings.User, settings.Project, settings.Local}, HomeVar: "CLAUDE_CONFIG_DIR",
		Events: Hooks, Deduplicates: true,
	}
}

// SettingsFile returns the settings file of a scope.
func (Installer) SettingsFile(scope settings.Scope, env host.Env) string {
	switch scope {
	case settings.Project:
		return filepath.Join(env.CWD, ".claude", "settings.json")
	case settings.Local:
		return filepath.Join(env.CWD, ".claude", "settings.local.json")
	}
	return filepath.Join(cmp.Or(env.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(env.Home, ".claude")), "settings.json")
}

// Where settings hold the commands of the status line and of the rows of sub-agents.
const (
	statusLineMember = "statusLine"
	agentLineMember  = "subagentStatusLine"
)

// Install implements host.Installer. A status line that the text sets already is run by ours.
func (Installer) Install(name string, txt []byte, executable string, statusline bool) (after []byte, done []string, err error) {
	if pathname.IsWindowsPath(executable) { // elsewhere a backslash is a character of a name
		executable = strings.ReplaceAll(executable, `\`, "/")
	}
	doc, err := settings.Parse(name, txt)
	if err != nil {
		return nil, nil, err
	}
	added, moved, err := doc.AddHooks(Name, settings.Direct(Name, executable), Hooks)
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
			done = append(done, fmt.Sprintf("status line added; yours (%s) follows it", text.Sanitize(command, 80)))
		case line.executable != executable:
			done = append(done, "the status line, which ran another ctxls, now runs this one")
		}
		if line.executable != executable {
			line.executable = executable
			doc.SetCommand(statusLineMember, line.String(), nil)
		}
	}
	if len(done) == 0 {
		return txt, nil, nil
	}
	done = append(done, notes(txt)...)
	if len(added) > 0 && !quietCountdown(doc.Raw("totalTokensReminder")) {
		done = append(done, "note: "+countdownText+"; "+countdownHint+" in this file changes that")
	}
	return doc.Bytes(), done, nil
}

// InstallAgents implements host.AgentLiner.
func (Installer) InstallAgents(name string, txt []byte, executable string) (after []byte, done []string, err error) {
	doc, err := settings.Parse(name, txt)
	if err != nil {
		return nil, nil, err
	}
	if pathname.IsWindowsPath(executable) {
		executable = strings.ReplaceAll(executable, `\`, "/")
	}
	command, there, err := doc.Command(agentLineMember)
	if err != nil {
		return nil, nil, err
	}
	line, own := parseStatusLine(command)
	switch {
	case !there:
		line, done = ownLine{options: []string{"--agents"}}, []string{"rows of sub-agents added"}
	case !own:
		return txt, []string{fmt.Sprintf("note: the rows of sub-agents stay as they are: %s prints them already", text.Sanitize(command, 80))}, nil
	case line.executable == executable:
		return txt, nil, nil
	default:
		done = []string{"the rows of sub-agents, which another ctxls printed, are now from this one"}
	}
	line.executable = executable
	doc.SetCommand(agentLineMember, line.String(), nil)
	return doc.Bytes(), done, nil
}

// notes says why Claude Code does not run what a settings text holds, one sentence each.
func notes(text []byte) (notes []string) {
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

// Blocked implements host.Installer. Claude Code skips a file that is not standard JSON, so that such a file blocks only itself.
func (Installer) Blocked(text []byte, installed bool) []string {
	if doc, err := settings.Parse("", text); !installed && (err != nil || !doc.Standard()) {
		return nil
	}
	return notes(text)
}

// StatusLine implements host.StatusLiner.
func (Installer) StatusLine(text []byte) host.StatusLine {
	doc, err := settings.Parse("", text)
	if err != nil {
		return host.StatusLine{}
	}
	command, there, err := doc.Command(statusLineMember)
	if line, own := parseStatusLine(command); own {
		return host.StatusLine{Set: true, Program: line.executable, Then: line.then}
	}
	return host.StatusLine{Set: there || err != nil, Then: command}
}

// Installed implements host.Installer. An enabled plugin named ctxls is one more entry. It always runs the ctxls on the PATH.
func (Installer) Installed(text []byte) []settings.Own {
	return append(settings.OwnHooks(text, Name), plugins(text)...)
}

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
			own = append(own, settings.Own{Place: "plugin " + name, Program: "ctxls", Undo: "/plugin in Claude Code, which switches a plugin off"})
		}
	}
	return own
}

// Servers implements host.Installer: the servers of the user, of the user in this project, and of the project.
func (Installer) Servers(env host.Env) []settings.Own {
	own := filepath.Join(cmp.Or(env.Getenv("CLAUDE_CONFIG_DIR"), env.Home), ".claude.json")
	return slices.Concat(settings.OwnServers(own, "mcpServers"), settings.OwnServers(own, "projects", env.CWD, "mcpServers"),
		settings.OwnServers(filepath.Join(env.CWD, ".mcp.json"), "mcpServers"))
}

// Uninstall implements host.Installer; see settings.Uninstall.
func (Installer) Uninstall(name string, text, before []byte) (after []byte, done []string, err error) {
	return settings.Uninstall(name, text, before, Name, removeLines)
}

func removeLines(doc, was *settings.Document) (done []string) {
	if command, there, err := doc.Command(statusLineMember); there && err == nil {
		switch line, own := parseStatusLine(command); {
		case own && line.wraps:
			doc.SetCommand(statusLineMember, line.then, was)
			done = append(done, "status line removed; yours is as it was")
		case own:
			doc.RemoveCommand(statusLineMember)
			done = append(done, "status line removed")
		}
	}
	if command, there, err := doc.Command(agentLineMember); there && err == nil {
		if _, own := parseStatusLine(command); own {
			doc.RemoveCommand(agentLineMember)
			done = append(done, "rows of sub-agents removed")
		}
	}
	return done
}

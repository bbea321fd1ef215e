package main

import (
	"slices"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host/claudecode"
	"github.com/ctxls/ctxls/internal/host/codex"
	"github.com/ctxls/ctxls/internal/host/gemini"
	"github.com/ctxls/ctxls/internal/host/opencode"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// An installer puts ctxls into one host and takes it out again, by editing one file of its settings.
type installer struct {
	host core.Host
	// program is what people start it by.
	program string
	scopes  []settings.Scope
	// homeVar is the variable that moves the host's own directory away from the home directory.
	homeVar string
	// settingsFile returns the file of a scope, for a home and a working directory.
	settingsFile func(scope settings.Scope, getenv func(string) string, home, cwd string) string
	// dirs is how many directories above the file are the host's own; 0 stands for 1.
	dirs int
	// statusline says that the host shows what a command prints.
	statusline bool
	// trust says what the host still wants before it runs what was installed; "" is nothing.
	trust string
	// install returns the file's text with executable run at the host's events; uninstall one without that, or nil where
	// nothing is left of a file that was not there before. done says what was changed, one sentence each; none means that
	// nothing had to be.
	install   func(name string, text []byte, executable string, statusline bool) (after []byte, done []string, err error)
	uninstall func(name string, text, before []byte) (after []byte, done []string, err error)
	// notes says why the host does not run what stands in its file, one sentence each; nil never says anything. install ends
	// with them where it changes something.
	notes func(text []byte) []string

	// What follows is for doctor, which looks at what was installed.

	// events are those that are to run ctxls; nil where what is installed is one thing.
	events []settings.Hook
	// own returns what of a file runs ctxls at events, and servers all MCP servers that are ctxls, wherever they are set.
	own     func(text []byte) []settings.Own
	servers func(getenv func(string) string, home, cwd string) []settings.Own
	// off says why the host runs no hook at all where a file counts, one sentence each; nil never says anything.
	off func(text []byte) []string
	// once says that ctxls speaks once where it runs twice at an event, since it knows a prompt again.
	once bool
	// orPath says that the ctxls on the PATH is run where the one that was installed is gone.
	orPath bool
	// wants is what a person may have to do before hooks run; "" is nothing.
	wants string
}

// notesOn returns the notes on a file in which ctxls is already.
func (i installer) notesOn(text []byte) []string {
	if i.notes == nil {
		return nil
	}
	return i.notes(text)
}

// installers are the hosts that ctxls can be put into, in the order in which people are shown them.
var installers = []installer{claudeCode, openCode, codexCLI, geminiCLI}

var claudeCode = installer{
	host: core.HostClaudeCode, program: "claude", scopes: claudecode.Scopes, homeVar: "CLAUDE_CONFIG_DIR", settingsFile: claudecode.SettingsFile,
	statusline: true, install: claudecode.Install, uninstall: claudecode.Uninstall, notes: claudecode.Notes,
	events: claudecode.Hooks, own: claudecode.OwnHooks, servers: claudecode.OwnServers, once: true, off: claudecode.Off,
}

var openCode = installer{
	host: core.HostOpenCode, program: "opencode", scopes: opencode.Scopes, homeVar: "XDG_CONFIG_HOME", settingsFile: opencode.PluginFile, dirs: 2,
	install: opencode.Install, uninstall: opencode.Uninstall,
	own: opencode.OwnHooks, servers: opencode.OwnServers, orPath: true,
}

var codexCLI = installer{
	host: core.HostCodex, program: "codex", scopes: codex.Scopes, homeVar: "CODEX_HOME", settingsFile: codex.HooksFile, trust: codex.Trust,
	install: func(name string, text []byte, executable string, _ bool) (after []byte, done []string, err error) {
		return codex.Install(name, text, executable)
	},
	uninstall: codex.Uninstall, notes: codex.Notes,
	events: codex.Hooks, own: func(text []byte) []settings.Own { return settings.OwnHooks(text, core.HostCodex) }, servers: codex.OwnServers, once: true,
	wants: "Codex skips hooks until you trust them: start codex and type /hooks",
}

var geminiCLI = installer{
	host: core.HostGeminiCLI, program: "gemini", scopes: gemini.Scopes, homeVar: "GEMINI_CLI_HOME", settingsFile: gemini.SettingsFile,
	install: func(name string, text []byte, executable string, _ bool) (after []byte, done []string, err error) {
		return gemini.Install(name, text, executable)
	},
	uninstall: gemini.Uninstall, notes: gemini.Notes,
	events: gemini.Hooks, own: func(text []byte) []settings.Own { return settings.OwnHooks(text, core.HostGeminiCLI) }, servers: gemini.OwnServers, off: gemini.Notes,
	wants: "Gemini CLI runs hooks only in folders that you trust: /permissions trust in gemini makes this one",
}

func installableHosts() (names []string) {
	for _, i := range installers {
		names = append(names, string(i.host))
	}
	return names
}

// noteOtherStatusLines says where another scope has a status line too: only one of them is shown.
func (a *app) noteOtherStatusLines(chosen settings.Scope, path string) {
	for i, scope := range claudecode.Scopes {
		file, err := a.openSettings(claudeCode, scope)
		if err != nil || file.Path == path || !claudecode.HasStatusLine(file.Text) {
			continue
		}
		if i > slices.Index(claudecode.Scopes, chosen) {
			a.say("note: %s has a status line too, and here Claude Code shows that one; --%s puts ours before it", file.Path, scope)
		} else {
			a.say("note: here this one is shown instead of that of %s; --%s would put ours before it", file.Path, scope)
		}
	}
}

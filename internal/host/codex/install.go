package codex

import (
	"bytes"
	"cmp"
	"path/filepath"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// hookTimeout is how long Codex waits for one hook, in seconds, which would be ten minutes otherwise. ctxls gives up after half a
// second by itself; this is for a machine that does not get round to running it. endTimeout is the most that Codex grants at a
// session's end; it is one second otherwise.
const hookTimeout, endTimeout = 5, 3

// Hooks are the events that ctxls has to be run at, the fewest that tell everything.
//
// PreToolUse is not among them: Codex writes what a call did to its rollout before PostToolUse. A compaction that a person asks for
// is told of by PostCompact at once, and by SessionStart only with the next prompt; PostCompact takes no text, so both are needed.
var Hooks = []settings.Hook{
	{Event: "SessionStart", Timeout: hookTimeout},     // what the marks mean; after a compaction the working context
	{Event: "UserPromptSubmit", Timeout: hookTimeout}, // the mark; a turn begins
	{Event: "PostToolUse", Timeout: hookTimeout},      // usage, paths; the reminder
	{Event: "PreCompact", Timeout: hookTimeout},       // the working set is kept as it is
	{Event: "PostCompact", Timeout: hookTimeout},      // the window has room again
	{Event: "SubagentStop", Timeout: hookTimeout},     // a sub-agent's own usage
	{Event: "Stop", Timeout: hookTimeout},             // a turn ends
	{Event: "SessionEnd", Timeout: endTimeout},
}

// Host is Codex for the registry.
var Host = host.Host{
	Name:      Name,
	Title:     "Codex",
	Records:   func(env host.Env) core.Recorder { return NewRecords(env) },
	Adapter:   func(getenv func(string) string) core.Adapter { return New(getenv) },
	Installer: Installer{},
}

// Installer implements host.Installer and host.Checker.
type Installer struct{}

// Profile returns the profile of Codex. It runs the hooks of both scopes.
func (Installer) Profile() host.Profile {
	return host.Profile{
		Program: "codex", Scopes: []settings.Scope{settings.User, settings.Project}, HomeVar: "CODEX_HOME", Events: Hooks, Deduplicates: true,
		Advice: "Codex skips hooks until you trust them: start codex and type /hooks", AfterInstall: trustHooks,
	}
}

// SettingsFile returns the hooks.json of a scope.
func (Installer) SettingsFile(scope settings.Scope, env host.Env) string {
	if scope == settings.Project {
		return filepath.Join(env.CWD, ".codex", "hooks.json")
	}
	return filepath.Join(codexDir(env), "hooks.json")
}

// codexDir returns the directory in which Codex keeps the user's settings.
func codexDir(env host.Env) string {
	return cmp.Or(env.Getenv("CODEX_HOME"), filepath.Join(env.Home, ".codex"))
}

// trustHooks says what is left to do once the hooks are installed.
const trustHooks = "Codex runs new and changed hooks only once you have trusted them, and until then skips them without a word.\n" +
	"To trust them, start codex: it says \"Hooks need review\"; choose \"Review hooks\" or \"Trust all and continue\".\n" +
	"Typing /hooks in codex does the same later. 'codex exec' never asks. Sessions that start after that run ctxls."

// Install implements host.Installer.
func (i Installer) Install(name string, text []byte, executable string, _ bool) (after []byte, done []string, err error) {
	doc, err := settings.Parse(name, text)
	if err != nil {
		return nil, nil, err
	}
	added, moved, err := doc.AddHooks(Name, settings.Shell(Name, executable), Hooks)
	if err != nil {
		return nil, nil, err
	}
	if done = settings.HooksDone(added, moved); len(done) == 0 {
		return text, nil, nil
	}
	if !settings.Runnable(executable) {
		done = append(done, "note: Codex on Windows runs hooks through a shell, and none runs a program in a directory with one of & ( ) ^ @ $ ` in its name; move ctxls to another one")
	}
	return doc.Bytes(), append(done, i.Blocked(text, true)...), nil
}

// Blocked implements host.Installer.
func (Installer) Blocked(text []byte, installed bool) (notes []string) {
	if !installed {
		return nil
	}
	doc, err := settings.Parse("", text)
	if err == nil && (!doc.Standard() || bytes.HasPrefix(text, []byte("\ufeff"))) { // "failed to parse hooks config"
		notes = append(notes, "note: the file has comments, trailing commas or a byte order mark, and Codex reads no hooks from such a file until they are gone")
	}
	return notes
}

// Installed implements host.Installer.
func (Installer) Installed(text []byte) []settings.Own {
	return settings.OwnHooks(text, Name)
}

// Uninstall implements host.Installer; see settings.Uninstall.
func (Installer) Uninstall(name string, text, before []byte) (after []byte, done []string, err error) {
	return settings.Uninstall(name, text, before, Name, nil)
}

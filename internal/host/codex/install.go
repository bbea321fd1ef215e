package codex

import (
	"bytes"
	"path/filepath"

	"github.com/ctxls/ctxls/internal/core"
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

// Scopes are the scopes that Codex has. The hooks of both run.
var Scopes = []settings.Scope{settings.User, settings.Project}

// HooksFile returns the file of a scope, for a home and a working directory.
func HooksFile(scope settings.Scope, getenv func(string) string, home, cwd string) string {
	if scope == settings.Project {
		return filepath.Join(cwd, ".codex", "hooks.json")
	}
	if dir := getenv("CODEX_HOME"); dir != "" {
		return filepath.Join(dir, "hooks.json")
	}
	return filepath.Join(home, ".codex", "hooks.json")
}

// Trust says what is left to do once the hooks are in place.
const Trust = "Codex runs new and changed hooks only once you have trusted them, and until then skips them without a word.\n" +
	"To trust them, start codex: it says \"Hooks need review\"; choose \"Review hooks\" or \"Trust all and continue\".\n" +
	"Typing /hooks in codex does the same later. 'codex exec' never asks. Sessions that start after that run ctxls."

// Install returns a text of hooks.json in which Codex runs executable, an absolute path, at every event of Hooks. done says what was
// changed, one sentence each; none means that nothing had to be. name is the file's, for errors. text is nil where there is no
// file yet.
func Install(name string, text []byte, executable string) (after []byte, done []string, err error) {
	doc, err := settings.Parse(name, text)
	if err != nil {
		return nil, nil, err
	}
	added, moved, err := doc.AddHooks(core.HostCodex, settings.Shell(core.HostCodex, executable), Hooks)
	if err != nil {
		return nil, nil, err
	}
	if done = settings.HooksDone(added, moved); len(done) == 0 {
		return text, nil, nil
	}
	if !settings.Runnable(executable) {
		done = append(done, "note: Codex on Windows runs hooks through a shell, and none runs a program in a directory with one of & ( ) ^ @ $ ` in its name; move ctxls to another one")
	}
	return doc.Bytes(), append(done, Notes(text)...), nil
}

// Notes says why Codex does not run what stands in a text of hooks.json, one sentence each.
func Notes(text []byte) (notes []string) {
	doc, err := settings.Parse("", text)
	if err == nil && (!doc.Standard() || bytes.HasPrefix(text, []byte("\ufeff"))) { // "failed to parse hooks config"
		notes = append(notes, "note: the file has comments, trailing commas or a byte order mark, and Codex reads no hooks from such a file until they are gone")
	}
	return notes
}

// Uninstall returns a text of hooks.json without anything that runs ctxls; see settings.Uninstall.
func Uninstall(name string, text, before []byte) (after []byte, done []string, err error) {
	return settings.Uninstall(name, text, before, core.HostCodex, nil)
}

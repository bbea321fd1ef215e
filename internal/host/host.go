// Package host defines what ctxls needs of an agent host: an adapter, which reads the host's events and answers them, and an installer,
// which edits the host's settings so that it runs ctxls. Each host has its own package below this one. Package registry lists them.
package host

import (
	"os"
	"runtime"

	"github.com/ctxls/ctxls/internal/check"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// Host is one agent host.
type Host struct {
	Name  session.Host
	Title string // its name in sentences, such as Claude Code
	// Adapter returns the host's adapter. getenv looks up the environment of a hook. It is nil in a server, which the host did not
	// start.
	Adapter func(getenv func(string) string) core.Adapter
	// Installer is nil if there are no settings to edit.
	Installer Installer
	// Records returns the reader of the sessions that the host keeps on the disk; nil if ctxls reads none.
	Records func(env Env) core.Recorder
	// ShowsStderr says that the host shows the user a hook's standard error, so that a hook writes nothing there.
	ShowsStderr bool
	// ReportsInvalid says that a hook writes the error in a payload to standard error, since the author of the payload reads it.
	ReportsInvalid bool
}

// Env is the environment of a command, as far as it decides where a host keeps its settings.
type Env struct {
	Getenv    func(string) string
	Home, CWD string // Home is "" where the user has no home directory
}

// HookEnv returns the environment of a hook in a directory. getenv is that of the hook.
func HookEnv(getenv func(string) string, cwd string) Env {
	home := getenv("HOME")
	if runtime.GOOS == "windows" {
		home = getenv("USERPROFILE")
	}
	return Env{Getenv: getenv, Home: home, CWD: cwd}
}

// Installer edits the settings of one host, as text. It opens no files except those that Servers and Checker read.
type Installer interface {
	// Profile returns the constant properties of the host.
	Profile() Profile
	// SettingsFile returns the file that Install edits for one of the host's scopes.
	SettingsFile(scope settings.Scope, env Env) string
	// Install returns the settings text with which the host runs executable, an absolute path, at its events, and as its status line if
	// statusline is set. name is the file's name for errors; text is nil if there is no file. done has one sentence for each change;
	// without changes it is empty. A text that cannot be edited is an error with coded.Invalid.
	Install(name string, text []byte, executable string, statusline bool) (after []byte, done []string, err error)
	// Uninstall returns the text without the changes of Install. before is the text from before Install, nil if it is not known. after
	// is nil if the file is to be removed.
	Uninstall(name string, text, before []byte) (after []byte, done []string, err error)
	// Installed returns the entries of a settings text that run ctxls at events.
	Installed(text []byte) []settings.Own
	// Servers returns the MCP servers that are ctxls, from all settings files of the host.
	Servers(env Env) []settings.Own
	// Blocked returns why the host does not run hooks because of a settings text, one sentence each. installed says whether ctxls is in
	// that text. If not, only reasons that stop the hooks of other files count.
	Blocked(text []byte, installed bool) []string
}

// Profile is what installing and checking need to know of a host.
type Profile struct {
	Program string           // the command that starts the host
	Scopes  []settings.Scope // the first is the default; a later one has precedence
	HomeVar string           // the environment variable that moves the host's directory out of the home directory
	// Events are the hooks that Install adds; nil if it adds a plugin instead.
	Events []settings.Hook
	// Deduplicates says that ctxls marks a prompt once even if the host runs it twice for the prompt.
	Deduplicates bool
	// FallsBackToPath says that the host runs the ctxls on the PATH if the installed program is gone.
	FallsBackToPath bool
	// Advice is one line about what the user may have to do before the host runs hooks; "" is nothing. AfterInstall is the same in more
	// words, for after an installation.
	Advice, AfterInstall string
}

// StatusLiner is an Installer whose host shows the output of a command as its status line. Only this command learns the size of the
// window.
type StatusLiner interface {
	Installer
	// StatusLine returns the status line that a settings text sets.
	StatusLine(text []byte) StatusLine
}

// AgentLiner is an Installer whose host shows the output of a command as the rows of its sub-agents.
type AgentLiner interface {
	Installer
	// InstallAgents returns the settings text with which the host runs executable for these rows, and the changes, as Install does. Rows
	// of another command stay, and done says so: the host runs only one command, and rows cannot be joined.
	InstallAgents(name string, text []byte, executable string) (after []byte, done []string, err error)
}

// StatusLine is the status line of a host.
type StatusLine struct {
	Set     bool
	Program string // the ctxls that it runs; "" where it runs another command
	Then    string // the command that ctxls runs, or the other command
}

// Checker is an Installer with checks for its host alone. Its checks need no group.
type Checker interface {
	Check(env Env, places []Place) []check.Check
}

// Place is the settings of one scope and the entries in them that run ctxls.
type Place struct {
	Scope settings.Scope
	File  *settings.File
	Own   []settings.Own
}

// SameFile reports whether two paths lead to the same existing file.
func SameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

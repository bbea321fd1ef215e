// Package config finds, reads and checks the settings of ctxls and hands them on as a settings.Config.
//
// Settings come in layers, and a later layer wins key by key: the defaults; the user's file; the nearest .ctxls.json of
// the workspace; what the editor sent; the CTXLS_* variables of the environment; the command line. Objects merge, lists and
// single values replace.
//
// Checking is strict and complete: every problem of a layer is reported with its place, its key and what is allowed.
// A layer with an error is ignored whole, since half a file can mean the opposite of what its author wrote; the layers
// around it stay in force. What a workspace (or an editor, which may pass a workspace's settings on) may not set is
// ignored with a warning, and the rest of it counts.
//
// The package reads no environment and knows no current directory: both come in through Sources.
package config

import (
	"bytes"
	"maps"
	"slices"

	"github.com/ctxls/ctxls/internal/core/settings"
)

// Sources is where settings come from. Every part may be empty.
type Sources struct {
	UserFile string            // the user's file; see UserFile for its usual place
	CWD      string            // an absolute directory: its workspace's .ctxls.json counts
	Home     string            // the user's home directory: the search for .ctxls.json never goes above it
	Client   Overlay           // what the editor sent
	Env      []string          // name=value pairs, as os.Environ gives them; only CTXLS_* is looked at
	Flags    map[string]string // values from the command line by dotted key, written as in the environment
}

// Overlay is settings that an editor sent: a JSON object of the same form as a file. It may set what a workspace may set.
type Overlay struct {
	Name string // where it came from, for messages: initializationOptions.config or didChangeConfiguration
	JSON []byte // empty or null: nothing
}

// Load returns the settings in force and every problem met on the way, in the order of the layers. The settings are
// always usable: a layer with an error counts for nothing. Where nothing is set anywhere it costs a stat per
// directory searched and nothing else.
func Load(s Sources) (settings.Config, []Problem) {
	config := settings.Default()
	var problems []Problem
	add := func(l *layer) {
		if l == nil {
			return
		}
		var found []Problem
		config, found = l.applyTo(config)
		problems = append(problems, found...)
	}
	if s.UserFile != "" {
		add(fileLayer(s.UserFile, false))
	}
	if file := WorkspaceFile(s.CWD, s.Home); file != "" {
		add(fileLayer(file, true))
	}
	add(s.Client.layer())
	add(envLayer(s.Env))
	add(flagLayer(s.Flags))
	return config, problems
}

// CheckFile returns the problems of one file, taken by itself on top of the defaults. A file called .ctxls.json is
// checked as a workspace's. A missing file is a problem here.
func CheckFile(path string) []Problem {
	l := fileLayer(path, isWorkspaceFile(path))
	if l == nil {
		return []Problem{{File: path, Message: "no such file"}}
	}
	_, problems := l.applyTo(settings.Default())
	return problems
}

// A layer is the settings of one source, checked as far as one source can be by itself.
type layer struct {
	name     string // file or source, for messages
	text     []byte // what offsets point into; nil where a source has no lines
	settings []setting
	offsets  map[string]int // where each key is written, by dotted key
	problems []Problem
	// workspace says that only settings.WorkspaceKeys may be set, and that windows go to settings.WorkspaceWindow.
	workspace bool
	bad       bool // it has an error, listed or beyond what is listed
}

// applyTo returns config with the layer's settings, or config as it was where the layer has an error, by itself or
// together with what it is laid upon; and the layer's problems.
func (l *layer) applyTo(config settings.Config) (settings.Config, []Problem) {
	if l.bad {
		return config, l.problems
	}
	next := config
	next.Window.Overrides, next.ModelLevels = maps.Clone(config.Window.Overrides), maps.Clone(config.ModelLevels)
	for _, s := range l.settings {
		s.applyTo(&next)
	}
	if l.workspace {
		next.Window = workspaceWindow(l.name, config.Window, next.Window, l.settings)
	}
	wrong := next.Check()
	if len(wrong) == 0 {
		return next, l.problems
	}
	problems := slices.Clone(l.problems)
	for _, key := range slices.Sorted(maps.Keys(wrong)) {
		problems = append(problems, l.problem(l.offset(key), key, wrong[key]))
	}
	return config, problems
}

// workspaceWindow moves what a workspace's layer changed in the windows from changed to the part that is kept for workspaces.
func workspaceWindow(source string, before, changed settings.WindowConfig, from []setting) settings.WindowConfig {
	own := settings.WorkspaceWindow{Source: source, DefaultTokens: before.Workspace.DefaultTokens, Overrides: maps.Clone(before.Workspace.Overrides)}
	any := false
	for _, s := range from {
		switch s.field.key {
		case "window.defaultTokens":
			own.DefaultTokens, any = changed.DefaultTokens, true
		case "window.overrides":
			if own.Overrides == nil {
				own.Overrides = map[string]int{}
			}
			own.Overrides[s.name], any = changed.Overrides[s.name], true
		}
	}
	if any {
		before.Workspace = own
	}
	return before
}

// layer returns what the editor sent as a layer, nil where it sent nothing.
func (o Overlay) layer() *layer {
	if json := bytes.TrimSpace(o.JSON); len(json) == 0 || string(json) == "null" {
		return nil
	}
	return parse(o.Name, o.JSON, true)
}

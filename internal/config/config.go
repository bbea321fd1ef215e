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
	"strings"

	"github.com/ctxls/ctxls/internal/core/settings"
)

// Sources are the places that settings come from. Every part may be empty.
type Sources struct {
	UserFile string            // the user's file; see UserFile for its usual place
	CWD      string            // an absolute directory: its workspace's .ctxls.json counts
	Home     string            // the user's home directory: the search for .ctxls.json never goes above it
	Client   Overlay           // the settings that the editor sent
	Env      []string          // name=value pairs, as os.Environ returns them; only CTXLS_* is used
	Flags    map[string]string // values from the command line by dotted key, written as in the environment
}

// Overlay is settings that an editor sent: a JSON object of the same form as a file. It may set what a workspace may set.
type Overlay struct {
	Name string // its source, for messages: initializationOptions.config or didChangeConfiguration
	JSON []byte // empty or null: no settings
}

// Load returns the settings in force and all problems, in the order of the layers. The settings are always usable, since
// a layer with an error is ignored. Without any settings it costs one stat for each searched directory.
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

// A layer is the settings of one source, checked without the other sources.
type layer struct {
	name     string // file or source, for messages
	text     []byte // the text that offsets refer to; nil if the source has no lines
	settings []setting
	offsets  map[string]int // the position of each key, by dotted key
	problems []Problem
	// workspace means that only settings.WorkspaceKeys may be set, and that windows are stored in
	// settings.WorkspaceWindow.
	workspace bool
	bad       bool // it has an error, reported or beyond the maximum number of reports
}

// applyTo returns config with the layer's settings, and the layer's problems. If the layer has an error, alone or
// together with config, it returns config unchanged.
func (l *layer) applyTo(config settings.Config) (settings.Config, []Problem) {
	next := config
	next.Window.Overrides, next.ModelLevels = maps.Clone(config.Window.Overrides), maps.Clone(config.ModelLevels)
	for _, s := range l.settings {
		s.applyTo(&next)
	}
	if l.workspace {
		next.Window = workspaceWindow(l.name, config.Window, next.Window, l.settings)
	}
	wrong := next.Check()
	if slices.ContainsFunc(l.problems, func(p Problem) bool { return !p.Warning && strings.HasPrefix(p.Key, "trim.") }) {
		delete(wrong, "trim.targetTokens") // the value that it is compared with may be the one that was refused
	}
	if len(wrong) == 0 && !l.bad {
		return next, l.problems
	}
	problems := slices.Clone(l.problems)
	for _, key := range slices.Sorted(maps.Keys(wrong)) {
		if len(problems) < maxProblems {
			problems = append(problems, l.problem(l.offset(key), key, wrong[key]))
		}
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

// layer returns the editor's settings as a layer, or nil if it sent none.
func (o Overlay) layer() *layer {
	if json := bytes.TrimSpace(o.JSON); len(json) == 0 || string(json) == "null" {
		return nil
	}
	return parse(o.Name, o.JSON, true)
}

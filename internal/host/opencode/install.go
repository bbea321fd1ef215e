package opencode

import (
	"bytes"
	"encoding/json"
	"path/filepath"

	plugin "github.com/ctxls/ctxls/adapters/opencode"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// Scopes are the scopes that OpenCode has: plugins of the user and of the project.
var Scopes = []settings.Scope{settings.User, settings.Project}

// PluginFile returns the file of a scope, for a home and a working directory. OpenCode loads every module in the directories
// plugin and plugins beside its settings; versions before 1.0 know only the former.
func PluginFile(scope settings.Scope, getenv func(string) string, home, cwd string) string {
	dir := filepath.Join(cwd, ".opencode")
	if scope == settings.User {
		if dir = getenv("XDG_CONFIG_HOME"); !filepath.IsAbs(dir) {
			dir = filepath.Join(home, ".config")
		}
		dir = filepath.Join(dir, "opencode")
	}
	return filepath.Join(dir, "plugin", "ctxls.js")
}

// mark begins every version of our plugin; a file that begins otherwise is somebody else's.
var mark = []byte("// ctxls plugin for OpenCode.")

// named begins the line of the source that names the program, and unset is that line as install finds it.
var (
	named = []byte("const INSTALLED = ")
	unset = []byte(`const INSTALLED = "" `)
)

// Install returns the text of our plugin, which starts executable, an absolute path. text is what stands in the file now, nil
// where there is none; done says what is done about it, none means that it is the same already. A file that is not ours is
// an error with core.CodeInvalid that begins with its name. statusline is not known to the host.
func Install(name string, text []byte, executable string, _ bool) (after []byte, done []string, err error) {
	if text != nil && !bytes.HasPrefix(text, mark) {
		return nil, nil, core.Errorf(core.CodeInvalid, "%s: is not the plugin of ctxls; it is left alone, move it away first", name)
	}
	path, err := json.Marshal(executable)
	if err != nil {
		return nil, nil, err
	}
	after = bytes.Replace(plugin.Plugin, unset, append(append(bytes.Clone(named), path...), ' '), 1)
	switch {
	case bytes.Equal(after, text):
		return text, nil, nil
	case text == nil:
		return after, []string{"plugin added"}, nil
	}
	return after, []string{"plugin of another version, or of another ctxls, replaced by this one's"}, nil
}

// OwnHooks returns the plugin with the program that it names, where a text is ours.
func OwnHooks(text []byte) []settings.Own {
	if !bytes.HasPrefix(text, mark) {
		return nil
	}
	own := settings.Own{Place: "plugin"}
	if _, line, ok := bytes.Cut(text, named); ok {
		_ = json.NewDecoder(bytes.NewReader(line)).Decode(&own.Program) // what is no string names no program
	}
	return []settings.Own{own}
}

// OwnServers returns the MCP servers of OpenCode that are ctxls, of the user and of the project.
func OwnServers(getenv func(string) string, home, cwd string) (own []settings.Own) {
	for _, scope := range Scopes {
		dir := filepath.Dir(filepath.Dir(PluginFile(scope, getenv, home, cwd)))
		if scope == settings.Project {
			dir = cwd
		}
		for _, name := range []string{"opencode.json", "opencode.jsonc"} {
			own = append(own, settings.OwnServers(filepath.Join(dir, name), "mcp")...)
		}
	}
	return own
}

// Uninstall returns nil, the text of no file, where the file is our plugin. A file that is not ours stays; done then is none.
func Uninstall(_ string, text, _ []byte) (after []byte, done []string, err error) {
	if text == nil || !bytes.HasPrefix(text, mark) {
		return text, nil, nil
	}
	return nil, []string{"plugin removed"}, nil
}

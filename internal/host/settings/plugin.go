package settings

import (
	"bytes"
	"encoding/json"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// Plugin installs ctxls as a file that a host loads, and that belongs to ctxls. Installers embed it.
type Plugin struct {
	Source []byte
	// Kind is what the host calls such a file: plugin, extension.
	Kind string
	// Mark is the beginning of every version of the file; other files belong to the user.
	Mark string
}

// installedLine begins the line of the source that names the program, and installedUnset is that line as install finds it.
var (
	installedLine  = []byte("const INSTALLED = ")
	installedUnset = []byte(`const INSTALLED = "" `)
)

func (p Plugin) own(text []byte) bool { return bytes.HasPrefix(text, []byte(p.Mark)) }

// Install returns the file with the program filled in, and what was done. A file that is not ours is an error with coded.Invalid.
func (p Plugin) Install(name string, text []byte, executable string, _ bool) (after []byte, done []string, err error) {
	if text != nil && !p.own(text) {
		return nil, nil, coded.Errorf(coded.Invalid, "%s: is not the plugin of ctxls; it is left alone, move it away first", name)
	}
	path, err := json.Marshal(executable)
	if err != nil {
		return nil, nil, err
	}
	after = bytes.Replace(p.Source, installedUnset, append(append(bytes.Clone(installedLine), path...), ' '), 1)
	switch {
	case bytes.Equal(after, text):
		return text, nil, nil
	case text == nil:
		return after, []string{p.Kind + " added"}, nil
	}
	return after, []string{p.Kind + " of another version, or of another ctxls, replaced by this one's"}, nil
}

// Blocked returns nothing: nothing switches such a file off.
func (Plugin) Blocked([]byte, bool) []string { return nil }

// Installed returns the file, with the program that it names.
func (p Plugin) Installed(text []byte) []Own {
	if !p.own(text) {
		return nil
	}
	own := Own{Place: p.Kind}
	if _, line, ok := bytes.Cut(text, installedLine); ok {
		_ = json.NewDecoder(bytes.NewReader(line)).Decode(&own.Program) // what is no string names no program
	}
	return []Own{own}
}

// Uninstall removes the file. One that is not ours stays as it is.
func (p Plugin) Uninstall(_ string, text, _ []byte) (after []byte, done []string, err error) {
	if text == nil || !p.own(text) {
		return text, nil, nil
	}
	return nil, []string{p.Kind + " removed"}, nil
}

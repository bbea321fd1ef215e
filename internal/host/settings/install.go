package settings

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
)

// HooksDone describes what AddHooks did, one sentence each.
func HooksDone(added, moved []string) (done []string) {
	if len(added) > 0 {
		done = append(done, "hooks added: "+strings.Join(added, ", "))
	}
	if len(moved) > 0 {
		done = append(done, "hooks that ran another ctxls now run this one: "+strings.Join(moved, ", "))
	}
	return done
}

// Uninstall returns a settings text without hooks that run ctxls for the host. more removes further entries and returns what they were;
// nil removes none. before is the text from before the installation, nil if there was no file or it is not known. It decides which empty
// values stay and how strings are spelled. more gets it as was, which may be nil. The result is nil if nothing is left and there was no
// file. done has one sentence for each change.
func Uninstall(name string, text, before []byte, host session.Host, more func(doc, was *Document) []string) (after []byte, done []string, err error) {
	doc, err := Parse(name, text)
	if err != nil {
		return nil, nil, err
	}
	var was *Document
	if before != nil {
		if was, err = Parse(name, before); err != nil {
			was = nil // an unreadable text gives no information
		}
	}
	if removed := doc.RemoveHooks(host, was); len(removed) > 0 {
		done = append(done, "hooks removed: "+strings.Join(removed, ", "))
	}
	if more != nil {
		done = append(done, more(doc, was)...)
	}
	switch {
	case len(done) == 0:
		return text, nil, nil
	case doc.Empty() && before == nil:
		return nil, done, nil
	case doc.Empty() && was != nil && was.Blank():
		return before, done, nil
	}
	return doc.Bytes(), done, nil
}

// Hooks installs ctxls at the events of a host whose settings have the form that most hosts share. Installers embed it.
type Hooks struct {
	Host   session.Host
	Events []Hook
}

// Install returns a settings text with hooks that run ctxls at the events, and what was done; see AddHooks.
func (h Hooks) Install(name string, text []byte, run Invocation) (after []byte, done []string, err error) {
	doc, err := Parse(name, text)
	if err != nil {
		return nil, nil, err
	}
	added, moved, err := doc.AddHooks(h.Host, run, h.Events)
	if err != nil {
		return nil, nil, err
	}
	if done = HooksDone(added, moved); len(done) == 0 {
		return text, nil, nil
	}
	return doc.Bytes(), done, nil
}

// Installed returns the hooks of a settings text that run ctxls.
func (h Hooks) Installed(text []byte) []Own { return OwnHooks(text, h.Host) }

// Uninstall returns a settings text without the hooks that run ctxls; see the function Uninstall.
func (h Hooks) Uninstall(name string, text, before []byte) (after []byte, done []string, err error) {
	return Uninstall(name, text, before, h.Host, nil)
}

// Package install puts ctxls into agent hosts and takes it out again, by editing one settings file of a host.
package install

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// Error is an error with advice.
type Error struct{ message, hint string }

func (e Error) Error() string { return e.message }

// Hint says what to do about the error.
func (e Error) Hint() string { return e.hint }

// ScopeError names a scope that a host does not have.
type ScopeError string

func (e ScopeError) Error() string { return string(e) }

// Target is the settings file of one scope of a host.
type Target struct {
	host.Host
	Scope settings.Scope
	File  *settings.File
}

// Open reads the settings file of a scope. A scope that the host does not have is a ScopeError. Settings of a project must lie in it,
// unless links is set: a repository may have a symbolic link in their place.
func Open(h host.Host, scope settings.Scope, env host.Env, links bool) (*Target, error) {
	profile := h.Installer.Profile()
	if !slices.Contains(profile.Scopes, scope) {
		return nil, ScopeError(fmt.Sprintf("%s has no --%s settings; it has %v", h.Name, scope, profile.Scopes))
	}
	if scope == settings.User && env.Home == "" && env.Getenv(profile.HomeVar) == "" {
		return nil, Error{"no home directory", "set HOME or " + profile.HomeVar + ", or use --project"}
	}
	path, err := filepath.Abs(h.Installer.SettingsFile(scope, env))
	if err != nil {
		return nil, err
	}
	file, err := settings.Open(path)
	if err != nil {
		return nil, err
	}
	t := &Target{h, scope, file}
	if scope != settings.User && !links {
		if leadsTo, outside := outside(env.CWD, file.Path); outside {
			return nil, Error{fmt.Sprintf("%s leads out of this project, to %s", path, leadsTo), "--follow-links edits that file all the same"}
		}
	}
	return t, nil
}

// outside returns the path of a file without symbolic links, and whether that is outside of dir. The file and directories above it need
// not be there.
func outside(dir, path string) (real string, is bool) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return path, true
	}
	rest := filepath.Base(path)
	for parent := filepath.Dir(path); ; parent = filepath.Dir(parent) {
		if real, err := filepath.EvalSymlinks(parent); err == nil {
			inside, err := filepath.Rel(root, real)
			return filepath.Join(real, rest), err != nil || !filepath.IsLocal(inside)
		}
		if parent == filepath.Dir(parent) {
			return path, true
		}
		rest = filepath.Join(filepath.Base(parent), rest)
	}
}

// Executable returns the absolute path by which hosts are to run this program. That is its place on the PATH where it is there,
// since a package manager replaces what a link of the PATH leads to.
func Executable() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if found, err := exec.LookPath("ctxls"); err == nil && filepath.IsAbs(found) && host.SameFile(found, self) {
		self = found
	}
	if !settings.IsOwn(self) {
		return "", Error{"this program is called " + filepath.Base(self), "name it ctxls, so that it can recognize its hooks"}
	}
	return filepath.ToSlash(self), nil
}

// Change is an edit of a settings file that has not been made yet.
type Change struct {
	After []byte   // the new text; nil where the file is to be removed
	Done  []string // one sentence for each change; none means that there is nothing to do
	again func() (Change, error)
}

// attempts is how often a change is tried while the host writes its file. An attempt takes about 25 ms.
const attempts = 40

// Lines are what is installed beside the hooks.
type Lines struct {
	Status bool // the status line; of a host.StatusLiner only
	Agents bool // the rows of sub-agents; of a host.AgentLiner only
}

// PlanInstall returns the change that installs executable.
func (t *Target) PlanInstall(executable string, lines Lines) (Change, error) {
	return t.plan(func() (c Change, err error) {
		c.After, c.Done, err = t.Installer.Install(t.File.Path, t.File.Text, executable, lines.Status)
		if liner, ok := t.Installer.(host.AgentLiner); ok && lines.Agents && err == nil {
			var done []string
			c.After, done, err = liner.InstallAgents(t.File.Path, c.After, executable)
			c.Done = append(c.Done, done...)
		}
		return c, err
	})
}

// PlanUninstall returns the change that takes ctxls out.
func (t *Target) PlanUninstall() (Change, error) {
	return t.plan(func() (c Change, err error) {
		c.After, c.Done, err = t.Installer.Uninstall(t.File.Path, t.File.Text, t.File.Before())
		return c, err
	})
}

// plan makes a change. A text that cannot be read is read again where the host is writing it at this very moment.
func (t *Target) plan(make func() (Change, error)) (c Change, err error) {
	for range attempts {
		if c, err = make(); err == nil {
			break
		}
		before := t.File.Text
		time.Sleep(pause)
		if t.reload() != nil || bytes.Equal(before, t.File.Text) {
			break
		}
	}
	c.again = make
	return c, err
}

// pause is how long a host is given between two attempts.
const pause = 3 * time.Millisecond

func (t *Target) reload() error {
	file, err := settings.Open(t.File.Path)
	if err == nil {
		t.File = file
	}
	return err
}

// Install writes a change of PlanInstall, and returns what was done in the end: where the host writes its file meanwhile, the change is
// planned again. The file is kept as a backup where ctxls is not in it yet.
func (t *Target) Install(c Change) (Change, error) {
	return t.write(c, func(c Change) error {
		_, installed, err := t.Installer.Uninstall(t.File.Path, t.File.Text, nil)
		if err != nil {
			return err
		}
		return t.File.Replace(c.After, len(installed) == 0)
	})
}

// Uninstall writes a change of PlanUninstall, as Install does, and removes the backup.
func (t *Target) Uninstall(c Change) (Change, error) {
	c, err := t.write(c, func(c Change) error {
		if c.After == nil {
			return t.File.Remove()
		}
		return t.File.Replace(c.After, false)
	})
	if err != nil {
		return c, err
	}
	return c, t.File.Forget()
}

// write makes a change, and looks whether it stands. Where the host was faster, or wrote over it what it had read before, the change
// is planned and made once more, until the attempts are used up.
func (t *Target) write(c Change, write func(Change) error) (made Change, err error) {
	for range attempts {
		if err = write(c); err == nil {
			made = c
		} else if !errors.Is(err, settings.ErrChanged) {
			return made, err
		} else {
			time.Sleep(pause)
		}
		if err = t.reload(); err != nil {
			return made, err
		}
		if c, err = t.plan(c.again); err != nil || len(c.Done) == 0 || c.After != nil && bytes.Equal(c.After, t.File.Text) {
			return made, err // a plan that only has notes changes nothing
		}
	}
	return made, coded.Errorf(coded.Unavailable, "%s: another program keeps writing this file; try again", t.File.Path)
}

// OtherStatusLines says where other scopes set a status line too, since the host shows only one of them.
func (t *Target) OtherStatusLines(env host.Env) (notes []string) {
	liner, ok := t.Installer.(host.StatusLiner)
	if !ok {
		return nil
	}
	scopes := t.Installer.Profile().Scopes
	for i, scope := range scopes {
		other, err := Open(t.Host, scope, env, true)
		if err != nil || other.File.Path == t.File.Path || !liner.StatusLine(other.File.Text).Set {
			continue
		}
		if i > slices.Index(scopes, t.Scope) {
			notes = append(notes, fmt.Sprintf("note: %s has a status line too, and %s shows that one here; --%s adds the gauge to it", other.File.Path, t.Title, scope))
		} else {
			notes = append(notes, fmt.Sprintf("note: here this one is shown instead of that in %s; --%s would add the gauge to it", other.File.Path, scope))
		}
	}
	return notes
}

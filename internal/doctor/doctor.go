// Package doctor checks the program, the settings, the state and the hosts, and says how to fix each problem. It starts no program,
// changes no file and does not write to the log.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/ctxls/ctxls/internal/check"
	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/install"
	"github.com/ctxls/ctxls/internal/store"
)

// Options say what to check.
type Options struct {
	Env       host.Env
	Sources   config.Sources               // of the settings, for the current directory
	StatePath func(settings.Config) string // the state's place under these settings
	Usual     func(settings.Config) bool   // that is where the state always lies
	LogPath   func(settings.Config) string // the log's place under these settings
	Hosts     []session.Host               // the only hosts to check; none is all
	Version   string
	Now       time.Time
}

// Run makes all checks. Later checks use the results of earlier ones.
func Run(ctx context.Context, o Options) []check.Check {
	d := doctor{Options: o}
	d.cfg, d.problems = config.Load(o.Sources)
	d.state = store.Inspect(ctx, o.StatePath(d.cfg), o.Usual(d.cfg))
	d.checkProgram()
	d.checkSettings()
	d.checkState()
	d.checkLog()
	d.checkHosts()
	d.checkTranscripts()
	d.checkRecords(ctx)
	d.checkWindows()
	return d.checks
}

// doctor is one run.
type doctor struct {
	Options
	cfg      settings.Config
	problems []config.Problem
	self     string // the path by which hosts run this program; "" is unknown
	state    store.Inspection

	group  string // of the next checks
	checks []check.Check
}

// maxCheckText bounds the texts of a check, in characters: they contain paths and names from outside.
const maxCheckText = 1000

// add adds a check to the current group. hint says what to do; "" is nothing.
func (d *doctor) add(status check.Status, name, what, hint string) {
	d.checks = append(d.checks, check.Check{Group: d.group, Name: name, Status: status, What: text.Sanitize(what, maxCheckText), Hint: text.Sanitize(hint, maxCheckText)})
}

// asked reports whether to check a host.
func (d *doctor) asked(host session.Host) bool {
	return len(d.Hosts) == 0 || slices.Contains(d.Hosts, host)
}

func (d *doctor) checkProgram() {
	d.group = "ctxls"
	self, err := install.Executable()
	if hint, ok := errors.AsType[install.Error](err); ok {
		d.add(check.Fail, "program", err.Error(), hint.Hint())
	} else if err != nil {
		d.add(check.Warn, "program", "its path is not known: "+err.Error(), "")
	} else {
		d.self = self
		d.add(check.OK, "program", d.Version+", "+self, "")
	}
	found, err := exec.LookPath("ctxls")
	switch dir := filepath.Dir(d.self); {
	case err != nil && d.self == "":
		d.add(check.Warn, "PATH", "there is no ctxls on the PATH", "")
	case err != nil:
		d.add(check.Warn, "PATH", "there is no ctxls on the PATH; editors, plugins and MCP entries look for it there", onPath(dir))
	case d.self != "" && !host.SameFile(found, d.self):
		d.add(check.Warn, "PATH", "another ctxls comes first: "+found, fmt.Sprintf("'%s version' prints its version; remove it, or put %s before it on the PATH", found, dir))
	default:
		d.add(check.OK, "PATH", found, "")
	}
	switch value := d.Env.Getenv("CTXLS_DISABLE"); value {
	case "", "0":
	case "1":
		d.add(check.Warn, "CTXLS_DISABLE", "is 1: hooks of hosts started from this shell do nothing", "unset CTXLS_DISABLE, and remove it from the profile of your shell")
	default:
		d.add(check.Warn, "CTXLS_DISABLE", fmt.Sprintf("is %q, which turns nothing off", text.Sanitize(value, 40)), "export CTXLS_DISABLE=1, or unset it")
	}
}

func (d *doctor) checkSettings() {
	d.group = "settings"
	none := true
	for _, f := range config.Files(d.Sources) {
		if f.Found {
			none = false
			d.add(check.OK, f.Layer, f.Path, "")
		}
	}
	if none {
		d.add(check.OK, "files", "none; the defaults apply", "")
	}
	for _, p := range d.problems {
		if p.Warning {
			d.add(check.Warn, "problem", p.String(), "the other settings in it are used; 'ctxls config check' shows this problem again")
		} else {
			d.add(check.Fail, "problem", p.String(), "the whole file is ignored until this is fixed; check it with 'ctxls config check'")
		}
	}
}

// onPath returns the command that puts a directory on the PATH.
func onPath(dir string) string {
	if runtime.GOOS == "windows" {
		return `set "PATH=` + dir + `;%PATH%"`
	}
	return "export PATH=" + quoted(dir) + `:"$PATH"`
}

// programProblem says why a host cannot start a program as this ctxls; "" is no problem. gone says that it does not start at all.
func (d *doctor) programProblem(program string) (problem string, gone bool) {
	found, err := exec.LookPath(filepath.FromSlash(program))
	switch {
	case program == "":
		return "no program", true
	case errors.Is(err, exec.ErrNotFound) && filepath.Base(program) == program:
		return program + ", which is not on the PATH", true
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound): // on Windows the latter is said of paths, too
		return program + ", which does not exist", true
	case err != nil:
		return program + ", which cannot be run", true
	case d.self != "" && !host.SameFile(found, d.self):
		return "another ctxls, " + found, false
	}
	return "", false
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/store"
	"github.com/ctxls/ctxls/internal/ui"
)

var doctorCommand = command{
	name: "doctor", synopsis: "[HOST…] [--json] [--color WHEN] [--width N]", short: "check that everything is in place, and say what to do where it is not",
	long: `
Looks at the program, the settings, the state with its log, what was put into each agent host, what has arrived from there, the
transcripts and the windows, and changes nothing: it does not even mend or move what is damaged. Hosts that are named are the
only ones it looks at. A line says ok, warn (it works, but maybe not as you think), fail, or skip (nothing to look at), and below
it stands what to do. The exit status is 1 where something failed.

--json prints an object: "version" of ctxls, the numbers "failed" and "warned", and "checks", each with "group", "name",
"status" (ok, warn, fail, skip), "what" was found and the "hint" what to do, "" where there is nothing to.`,
	examples: "ctxls doctor\nctxls doctor claude-code\nctxls doctor --json | jq -r '.checks[] | select(.status != \"ok\") | [.group, .name, .what, .hint] | @tsv'",
	words:    hostNames(),
	setup: func(fs *pflag.FlagSet) action {
		asJSON := fs.Bool("json", false, "print JSON")
		var drawn lookFlags
		drawn.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			d := doctor{app: a, now: time.Now()}
			for _, name := range args {
				if !slices.Contains(core.Hosts, core.Host(name)) {
					return usageError{fmt.Sprintf("doctor: no host %q; it takes some of: %s", core.Sanitize(name, 60), strings.Join(hostNames(), ", "))}
				}
				d.hosts = append(d.hosts, core.Host(name))
			}
			look, err := drawn.look(a)
			if err != nil {
				return err
			}
			d.examine(ctx)
			if *asJSON {
				err = printJSON(a.stdout, diagnosis{versionString(), d.count(ui.CheckFail), d.count(ui.CheckWarn), d.checks})
			} else {
				err = ui.Checks(a.stdout, d.checks, look)
			}
			if failed := d.count(ui.CheckFail); err == nil && failed > 0 {
				return fmt.Errorf("%s failed", counted(failed, "check"))
			}
			return err
		}
	},
}

// diagnosis is what doctor prints as JSON.
type diagnosis struct {
	Version string     `json:"version"`
	Failed  int        `json:"failed"`
	Warned  int        `json:"warned"`
	Checks  []ui.Check `json:"checks"`
}

// doctor looks at everything that ctxls needs and changes nothing: the log, too, is not written to.
type doctor struct {
	*app
	hosts []core.Host // that were asked about; none are all
	now   time.Time

	cfg      core.Config
	problems []config.Problem
	self     string // this program as hosts are to run it; "" is unknown
	state    store.Inspection

	group  string // of the checks that come
	checks []ui.Check
}

// maxCheckText bounds what a check says, in characters: paths and names that others chose stand in it.
const maxCheckText = 1000

// add notes a check of the present group. hint says what to do; "" is nothing.
func (d *doctor) add(status ui.CheckStatus, name, what, hint string) {
	d.checks = append(d.checks, ui.Check{Group: d.group, Name: name, Status: status, What: core.Sanitize(what, maxCheckText), Hint: core.Sanitize(hint, maxCheckText)})
}

func (d *doctor) count(status ui.CheckStatus) (n int) {
	for _, c := range d.checks {
		if c.Status == status {
			n++
		}
	}
	return n
}

// asked reports whether a host is one of those that doctor is to look at.
func (d *doctor) asked(host core.Host) bool {
	return len(d.hosts) == 0 || slices.Contains(d.hosts, host)
}

// examine makes all checks, in the order in which one rests on the other.
func (d *doctor) examine(ctx context.Context) {
	d.cfg, d.problems = config.Load(d.sources(d.cwd))
	d.state = store.Inspect(ctx, d.storePath(d.cfg))
	d.checkProgram()
	d.checkSettings()
	d.checkState()
	d.checkLog()
	d.checkHosts()
	d.checkTranscripts()
	d.checkWindows()
}

func (d *doctor) checkProgram() {
	d.group = "ctxls"
	self, err := d.executable()
	if hint, ok := errors.AsType[hintError](err); ok {
		d.add(ui.CheckFail, "program", err.Error(), hint.hint)
	} else if err != nil {
		d.add(ui.CheckWarn, "program", "where it lies is not known: "+err.Error(), "")
	} else {
		d.self = self
		d.add(ui.CheckOK, "program", versionString()+", "+self, "")
	}
	found, err := exec.LookPath("ctxls")
	switch dir := filepath.Dir(d.self); {
	case err != nil && d.self == "":
		d.add(ui.CheckWarn, "PATH", "there is no ctxls on the PATH", "")
	case err != nil:
		d.add(ui.CheckWarn, "PATH", "there is no ctxls on the PATH, where editors, plugins and MCP entries look for it", onPath(dir))
	case d.self != "" && !sameFile(found, d.self):
		d.add(ui.CheckWarn, "PATH", "another ctxls comes first: "+found, fmt.Sprintf("'%s version' says which one; remove it, or put %s before it", found, dir))
	default:
		d.add(ui.CheckOK, "PATH", found, "")
	}
	if d.getenv("CTXLS_DISABLE") == "1" {
		d.add(ui.CheckWarn, "CTXLS_DISABLE", "is 1 here: whatever is started from here has hooks that do nothing", "unset CTXLS_DISABLE, and remove it from the profile of your shell")
	}
}

func (d *doctor) checkSettings() {
	d.group = "settings"
	none := true
	for _, f := range config.Files(d.sources(d.cwd)) {
		if f.Found {
			none = false
			d.add(ui.CheckOK, f.Layer, f.Path, "")
		}
	}
	if none {
		d.add(ui.CheckOK, "files", "none, so the defaults are in force", "")
	}
	for _, p := range d.problems {
		if p.Warning {
			d.add(ui.CheckWarn, "problem", p.String(), "the rest of it counts; 'ctxls config check' shows this again")
		} else {
			d.add(ui.CheckFail, "problem", p.String(), "all of it counts for nothing until this is mended; 'ctxls config check' shows whether it is")
		}
	}
}

// onPath returns the command line that puts a directory on the PATH.
func onPath(dir string) string {
	if runtime.GOOS == "windows" {
		return `set "PATH=` + dir + `;%PATH%"`
	}
	return "export PATH=" + quoted(dir) + `:"$PATH"`
}

// programProblem says what is wrong with a program that a host is to start; "" is nothing.
func (d *doctor) programProblem(program string) (problem string, gone bool) {
	found, err := exec.LookPath(filepath.FromSlash(program))
	switch {
	case program == "":
		return "no program", true
	case errors.Is(err, exec.ErrNotFound):
		return program + ", which is not on the PATH", true
	case errors.Is(err, fs.ErrNotExist):
		return program + ", which is not there", true
	case err != nil:
		return program + ", which cannot be run", true
	case d.self != "" && !sameFile(found, d.self):
		return "another ctxls, " + found, false
	}
	return "", false
}

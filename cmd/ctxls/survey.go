package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// survey is what is told of the hosts that ctxls can be put into when none is named.
type survey struct {
	Hosts []prospect `json:"hosts"`
}

// prospect is a host, whether it is on this machine, and what installing into it would do.
type prospect struct {
	Host       core.Host        `json:"host"`
	Scopes     []settings.Scope `json:"scopes"`     // each the name of a flag; the first is the default
	StatusLine bool             `json:"statusline"` // --statusline may be asked for
	Found      bool             `json:"found"`      // its program or its directory is there
	Program    *string          `json:"program"`    // where it lies; null where it is not on the PATH
	Directory  *string          `json:"directory"`  // its own, in the home directory; null where there is none
	File       *string          `json:"file"`       // that ctxls would be put into; null where nobody knows
	Changes    []string         `json:"changes"`    // what would be done there, one sentence each; none where ctxls is in it
	Problem    *string          `json:"problem"`    // why nothing can be done; null where it can

	notes []string // why the host does not run what is in there already; for people
	wants string   // what they may have to do before it runs any; "" is nothing
}

// survey looks at every host that ctxls installs into, and changes nothing.
func (a *app) survey(scope settings.Scope) survey {
	var s survey
	for _, i := range installers {
		p := prospect{Host: i.host, Scopes: i.scopes, StatusLine: i.statusline, Changes: []string{}, wants: i.wants}
		if program, err := exec.LookPath(i.program); err == nil {
			p.Program = &program
		}
		if a.home != "" || a.getenv(i.homeVar) != "" {
			if dir := filepath.Dir(i.settingsFile(settings.User, a.getenv, a.home, a.cwd)); dirExists(dir) {
				p.Directory = &dir
			}
		}
		p.Found = p.Program != nil || p.Directory != nil
		if err := a.foresee(&p, i, scope); err != nil {
			problem := err.Error()
			p.Problem = &problem
		}
		s.Hosts = append(s.Hosts, p)
	}
	return s
}

// foresee fills in what installing would do.
func (a *app) foresee(p *prospect, i installer, scope settings.Scope) error {
	if !slices.Contains(i.scopes, scope) {
		return fmt.Errorf("it has no --%s settings", scope)
	}
	file, err := a.openSettings(i, scope)
	if err != nil {
		return err
	}
	p.File = &file.Path
	executable, err := a.executable()
	if err != nil {
		return err
	}
	_, done, err := i.install(file.Path, file.Text, executable, false)
	p.Changes = append(p.Changes, done...)
	if len(done) == 0 {
		p.notes = i.notesOn(file.Text)
	}
	return err
}

// printSurvey shows people the hosts that were found.
func (a *app) printSurvey(s survey) {
	none := true
	for _, p := range s.Hosts {
		if !p.Found {
			continue
		}
		none = false
		var where []string
		for _, place := range []*string{p.Program, p.Directory} {
			if place != nil {
				where = append(where, core.Sanitize(*place, 0))
			}
		}
		fmt.Fprintf(a.stdout, "%s (%s)\n", p.Host, strings.Join(where, ", "))
		switch {
		case p.Problem != nil:
			a.say("  cannot be done: %s", *p.Problem)
		case len(p.Changes) == 0:
			a.say("  nothing to do: %s runs ctxls already", *p.File)
		default:
			a.say("  would change %s", *p.File)
		}
		for _, change := range append(p.Changes, p.notes...) {
			a.say("    %s", change)
		}
		if p.wants != "" && p.Problem == nil {
			fmt.Fprintf(a.stdout, "  note: %s\n", p.wants)
		}
	}
	if none {
		fmt.Fprintf(a.stdout, "No host was found that ctxls installs into; it takes %s.\n", strings.Join(installableHosts(), ", "))
		return
	}
	fmt.Fprintln(a.stdout, "Nothing was changed: 'ctxls install HOST' does what stands under it.")
}

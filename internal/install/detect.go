package install

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// HostPlan says whether a host is on this machine, and what installing into it would do.
type HostPlan struct {
	Host       session.Host     `json:"host"`
	Title      string           `json:"title"`      // its name in sentences
	Scopes     []settings.Scope `json:"scopes"`     // each is the name of a flag; the first is the default
	StatusLine bool             `json:"statusline"` // --statusline is allowed
	Found      bool             `json:"found"`      // its program or its directory exists
	Program    *string          `json:"program"`    // its path; null where it is not on the PATH
	Directory  *string          `json:"directory"`  // the host's directory in the home directory; null where there is none
	File       *string          `json:"file"`       // the file that would be changed; null where it is not known
	Changes    []string         `json:"changes"`    // one sentence for each change; empty where ctxls is installed already
	Problem    *string          `json:"problem"`    // why ctxls cannot be installed; null where it can

	Blocked []string `json:"-"` // why the host does not run what is installed already
	Advice  string   `json:"-"` // see host.Profile
}

// DetectHosts looks for hosts and plans to install into a scope of each. It changes nothing.
func DetectHosts(hosts []host.Host, scope settings.Scope, env host.Env) (plans []HostPlan) {
	for _, h := range hosts {
		profile := h.Installer.Profile()
		_, statusLine := h.Installer.(host.StatusLiner)
		p := HostPlan{Host: h.Name, Title: h.Title, Scopes: profile.Scopes, StatusLine: statusLine, Changes: []string{}, Advice: profile.Advice}
		if program, err := exec.LookPath(profile.Program); err == nil {
			p.Program = &program
		}
		if env.Home != "" || env.Getenv(profile.HomeVar) != "" {
			dir := filepath.Dir(h.Installer.SettingsFile(settings.User, env))
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				p.Directory = &dir
			}
		}
		p.Found = p.Program != nil || p.Directory != nil
		if err := p.plan(h, scope, env); err != nil {
			problem := err.Error()
			p.Problem = &problem
		}
		plans = append(plans, p)
	}
	return plans
}

// plan fills in what installing would do.
func (p *HostPlan) plan(h host.Host, scope settings.Scope, env host.Env) error {
	target, err := Open(h, scope, env, false)
	if err != nil {
		return err
	}
	p.File = &target.File.Path
	executable, err := Executable()
	if err != nil {
		return err
	}
	change, err := target.PlanInstall(executable, Lines{})
	p.Changes = append(p.Changes, change.Done...)
	if len(change.Done) == 0 {
		p.Blocked = h.Installer.Blocked(target.File.Text, true)
	}
	return err
}

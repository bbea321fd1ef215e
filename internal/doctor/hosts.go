package doctor

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/check"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/host/settings"
	"github.com/ctxls/ctxls/internal/install"
	"github.com/ctxls/ctxls/internal/ui"
)

// hostState is what doctor knows of one host before it checks it.
type hostState struct {
	host.Host
	host.Profile
	liner  host.StatusLiner // nil where the host has no status line
	found  bool
	where  string         // the places where it was found, and its version
	places []host.Place   // the scopes whose settings could be read
	wrong  []string       // why those of other scopes could not
	ways   []installation // of ctxls in this host
}

// installation is one way in which ctxls was installed into a host.
type installation struct {
	what    string // "for the user (FILE)"
	program string // that the host runs
	undo    string // how to take it out
	whole   bool   // no hook is missing
	plugin  bool   // the host's own plugin manager installed it
}

func (d *doctor) checkHosts() {
	hosts := d.readHosts()
	d.group = "hosts"
	some, ways := false, 0
	for _, h := range hosts {
		some = some || h.found
		ways += len(h.ways)
		switch {
		case h.found:
			d.add(check.OK, string(h.Name), h.where, "")
		case len(d.Hosts) > 0:
			d.add(check.Warn, string(h.Name), "not found on this machine: no "+h.Program+" on the PATH, and no directory of the host", "")
		default:
			d.add(check.Skip, string(h.Name), "not found on this machine", "")
		}
	}
	if !some && len(d.Hosts) == 0 {
		d.add(check.Warn, "none", "no supported agent host was found", "install a host, then run 'ctxls install'; docs/hosts.md shows how to connect any other agent")
	}
	for _, h := range hosts {
		d.group = string(h.Name)
		if h.found || len(h.ways) > 0 {
			d.checkHooks(h, ways > 0)
			d.checkPrograms(h)
			if h.liner != nil {
				d.checkStatusLine(h)
			}
		}
		d.checkSign(h.Name, len(h.ways) > 0, h.Advice)
	}
	for _, h := range registry.All {
		if d.group = string(h.Name); h.Installer == nil && d.asked(h.Name) {
			d.checkSign(h.Name, false, "")
		}
	}
}

// readHosts reads the settings of the hosts to check.
func (d *doctor) readHosts() (hosts []hostState) {
	all := registry.Installable()
	for n, plan := range install.DetectHosts(all, settings.User, d.Env) {
		h := hostState{Host: all[n], Profile: all[n].Installer.Profile(), found: plan.Found}
		if !d.asked(h.Name) {
			continue
		}
		h.liner, _ = h.Installer.(host.StatusLiner)
		var where []string
		if plan.Program != nil {
			where = append(where, strings.TrimSpace(programVersion(*plan.Program)+" "+*plan.Program))
		}
		if plan.Directory != nil {
			where = append(where, *plan.Directory)
		}
		h.where = strings.Join(where, ", ")
		seen := ""
		for _, scope := range h.Scopes {
			path, _ := filepath.Abs(h.Installer.SettingsFile(scope, d.Env))
			if path == seen && d.Env.Home != "" {
				continue // in the home directory the project's file is the user's
			}
			seen = path
			target, err := install.Open(h.Host, scope, d.Env, true)
			if err == nil {
				_, err = target.PlanInstall(d.self, install.Lines{}) // its error says what is wrong with the file
			}
			if err != nil {
				h.wrong = append(h.wrong, err.Error())
				continue
			}
			h.places = append(h.places, host.Place{Scope: scope, File: target.File, Own: h.Installer.Installed(target.File.Text)})
		}
		for _, p := range h.places {
			h.ways = append(h.ways, h.installations(p)...)
		}
		hosts = append(hosts, h)
	}
	return hosts
}

// installations returns the ways in which ctxls was installed in one scope.
func (h hostState) installations(p host.Place) (ways []installation) {
	for _, own := range p.Own {
		w := installation{"for the " + string(p.Scope) + " (" + p.File.Path + ")", own.Program, "'" + h.command("uninstall", p.Scope, "") + "'", len(h.missing(p)) == 0, false}
		if own.Undo != "" {
			w = installation{"as " + own.Place + " (" + p.File.Path + ")", own.Program, own.Undo, true, true}
		}
		if !slices.Contains(ways, w) {
			ways = append(ways, w)
		}
	}
	return ways
}

// missing returns the events at which a scope's hooks do not run ctxls.
func (h hostState) missing(p host.Place) (events []string) {
	for _, event := range h.Events {
		if !slices.ContainsFunc(p.Own, func(own settings.Own) bool { return own.Place == event.Event }) {
			events = append(events, event.Event)
		}
	}
	return events
}

// command returns the command line that installs ctxls into a scope of the host, or removes it.
func (h hostState) command(verb string, scope settings.Scope, more string) string {
	line := "ctxls " + verb + " " + string(h.Name) + more
	if scope != settings.User {
		line += " --" + string(scope)
	}
	return line
}

// checkHooks checks the hooks of a host. elsewhere says that ctxls is installed into some host.
func (d *doctor) checkHooks(h hostState, elsewhere bool) {
	for _, wrong := range h.wrong {
		d.add(check.Fail, "settings", wrong, "fix the file: the host may not be able to read it either")
	}
	if len(h.ways) == 0 && len(h.wrong) > 0 {
		return // its content is unknown, and install would refuse to edit it
	}
	if len(h.ways) == 0 {
		status, more := check.Warn, ""
		if elsewhere {
			status = check.Skip
		}
		if h.liner != nil {
			more = " --statusline"
		}
		d.add(status, "hooks", "not installed", h.command("install", settings.User, more))
		return
	}
	var where, programs, undo []string
	for _, w := range h.ways {
		if w.whole {
			where = append(where, w.what)
		}
		if !slices.Contains(programs, w.program) {
			programs = append(programs, w.program)
		}
		undo = append([]string{w.undo}, undo...) // the last installation is removed first
	}
	if len(where) > 0 {
		d.add(check.OK, "hooks", "installed "+strings.Join(where, ", and "), "")
	}
	if len(programs) > 1 && h.Events != nil { // the same program twice is one hook to most hosts
		what := "they are installed more than once, and all of them run: "
		if h.Deduplicates {
			what += "a prompt gets one mark, but every event costs twice the time"
		} else {
			what += "every prompt gets more than one mark"
		}
		d.add(check.Warn, "twice", what, "keep one of them: "+strings.Join(undo, ", or "))
	}
	for _, p := range h.places {
		d.checkPlace(h, p)
	}
	d.checkBlocked(h)
}

// checkPlace checks whether the hooks of one scope are complete.
func (d *doctor) checkPlace(h hostState, p host.Place) {
	if !slices.ContainsFunc(p.Own, func(own settings.Own) bool { return own.Undo == "" }) {
		return
	}
	if missing := h.missing(p); len(missing) > 0 {
		d.add(check.Warn, "hooks", fmt.Sprintf("%d of %d are missing in %s (an older ctxls installed it): %s", len(missing), len(h.Events), p.File.Path, strings.Join(missing, ", ")),
			h.command("install", p.Scope, ""))
	}
	if problem, _ := d.programProblem(p.Own[0].Program); h.Events == nil && problem == "" && !d.installKeeps(h, p) {
		d.add(check.Warn, "hooks", p.File.Path+" is from another version of ctxls", h.command("install", p.Scope, ""))
	}
}

// checkBlocked reports what keeps the host from running its hooks.
func (d *doctor) checkBlocked(h hostState) {
	for _, p := range h.places {
		for _, note := range h.Installer.Blocked(p.File.Text, len(p.Own) > 0) {
			d.add(check.Fail, "switched off", p.File.Path+": "+strings.TrimPrefix(note, "note: "), "edit that file")
		}
	}
	if checker, ok := h.Installer.(host.Checker); ok {
		for _, c := range checker.Check(d.Env, h.places) {
			d.add(c.Status, c.Name, c.What, c.Hint)
		}
	}
}

// entry is an entry of a host's settings that runs a program, and how to fix it.
type entry struct {
	what, program, fix string
	orPath             bool // the host runs the ctxls on the PATH if this program is gone
}

// checkPrograms checks whether the programs in the host's settings exist and are this ctxls.
func (d *doctor) checkPrograms(h hostState) {
	var entries []entry
	for _, p := range h.places {
		for _, own := range p.Own {
			e := entry{"hooks", own.Program, h.command("install", p.Scope, ""), h.FallsBackToPath}
			if h.Events == nil {
				e.what = own.Place
			}
			if d.installKeeps(h, p) {
				e.fix = "edit " + p.File.Path
			}
			if own.Undo != "" {
				e.what, e.fix = own.Place, "put the directory of ctxls on the PATH of the host"
			}
			entries = append(entries, e)
		}
		if h.liner != nil {
			if line := h.liner.StatusLine(p.File.Text); line.Program != "" {
				entries = append(entries, entry{"status line", line.Program, h.command("install", p.Scope, " --statusline"), false})
			}
		}
	}
	for _, own := range h.Installer.Servers(d.Env) {
		entries = append(entries, entry{own.Place, own.Program, fmt.Sprintf("name %s in %s", d.self, own.File), false})
	}
	if len(entries) == 0 {
		return
	}
	var fine []string
	seen := map[entry]bool{}
	for _, e := range entries {
		if seen[e] {
			continue
		}
		seen[e] = true
		problem, gone := d.programProblem(e.program)
		if onPath, _ := d.programProblem("ctxls"); gone && e.orPath && onPath == "" {
			d.add(check.Warn, "program", e.what+": "+problem+"; the host runs the ctxls on the PATH instead", e.fix)
			continue
		}
		switch {
		case gone:
			d.add(check.Fail, "program", e.what+": "+problem, e.fix)
		case problem != "":
			d.add(check.Warn, "program", e.what+": "+problem, e.fix)
		case !slices.Contains(fine, e.what):
			fine = append(fine, e.what)
		}
	}
	if len(fine) > 0 {
		d.add(check.OK, "program", "this ctxls is run by "+strings.Join(fine, ", "), "")
	}
}

// installKeeps reports whether install would leave the entries of a scope as they are, because the user has edited them.
func (d *doctor) installKeeps(h hostState, p host.Place) bool {
	_, done, err := h.Installer.Install(p.File.Path, p.File.Text, d.self, false)
	return err != nil || len(done) == 0
}

// checkStatusLine checks the status line that the host shows here: that of the last scope with one.
func (d *doctor) checkStatusLine(h hostState) {
	for _, p := range slices.Backward(h.places) {
		line := h.liner.StatusLine(p.File.Text)
		switch {
		case !line.Set:
			continue
		case line.Program == "":
			d.add(check.Warn, "status line", "another one ("+text.Sanitize(line.Then, 60)+"); only there does "+h.Title+" tell how large the window is", h.command("install", p.Scope, " --statusline")+" shows the gauge before it")
		case line.Then != "":
			d.add(check.OK, "status line", "from ctxls, followed by yours ("+text.Sanitize(line.Then, 60)+")", "")
		default:
			d.add(check.OK, "status line", "from ctxls", "")
		}
		return
	}
	if len(h.ways) == 0 {
		return // checkHooks has reported it
	}
	hint := h.command("install", settings.User, " --statusline")
	if !slices.ContainsFunc(h.ways, func(w installation) bool { return !w.plugin }) { // install would add the hooks a second time
		hint = `"statusLine": {"type": "command", "command": "ctxls statusline"} in ` + h.places[0].File.Path + "; or remove the plugin, and " + hint
	}
	d.add(check.Skip, "status line", "none; only there does "+h.Title+" tell how large the window is", hint)
}

// checkSign reports when the last event of the host arrived.
func (d *doctor) checkSign(host session.Host, installed bool, wants string) {
	if d.state.Unreadable != nil || len(d.state.Damage) > 0 || d.state.Older {
		return // not known
	}
	i := slices.IndexFunc(d.state.Sessions, func(s session.Session) bool { return s.Host == host })
	switch {
	case i >= 0:
		d.add(check.OK, "last event", ui.Ago(d.Now.Sub(d.state.Sessions[i].UpdatedAt)), "")
	case installed:
		hint := "start a new session and type a prompt; a running session keeps the hooks that it started with"
		if wants != "" {
			hint += ". " + wants
		}
		d.add(check.Warn, "last event", "installed, but no event has arrived yet", hint)
	case slices.Contains(d.Hosts, host):
		d.add(check.Skip, "last event", "no event has arrived yet", "")
	}
}

// programVersion returns the version of a program by its path: from its npm package, or from a directory or file name that is a
// version. It is "" if the path shows none. It does not run the program.
func programVersion(program string) string {
	path, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}
	versionName := regexp.MustCompile(`^v?\d+\.\d+\.\d+[\w.-]*$`)
	for range 5 {
		if name := filepath.Base(path); versionName.MatchString(name) {
			return name
		}
		path = filepath.Dir(path)
		var manifest struct {
			Name, Version string
		}
		text, _, err := readEnd(filepath.Join(path, "package.json"), 1<<20)
		if err == nil && json.Unmarshal(text, &manifest) == nil && manifest.Name != "" && versionName.MatchString(manifest.Version) {
			return manifest.Version
		}
	}
	return ""
}

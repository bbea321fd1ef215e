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
			d.add(check.Warn, string(h.Name), "not found on this machine: no "+h.Program+" on the PATH, and no directory of its own", "")
		default:
			d.add(check.Skip, string(h.Name), "not found on this machine", "")
		}
	}
	if !some && len(d.Hosts) == 0 {
		d.add(check.Warn, "none", "there is no agent host that ctxls installs into", "install one, then 'ctxls install' says what it would do; docs/hosts.md shows how any other agent tells ctxls of its sessions")
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
				_, err = target.PlanInstall(d.self, false) // its error says what is wrong with the file
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

// command returns the command line that puts ctxls into a scope of the host, or takes it out.
func (h hostState) command(verb string, scope settings.Scope, more string) string {
	line := "ctxls " + verb + " " + string(h.Name) + more
	if scope != settings.User {
		line += " --" + string(scope)
	}
	return line
}

// checkHooks looks at what runs ctxls at the host's events. elsewhere says that some host has been given ctxls.
func (d *doctor) checkHooks(h hostState, elsewhere bool) {
	for _, wrong := range h.wrong {
		d.add(check.Fail, "settings", wrong, "mend the file: its host may not read it either")
	}
	if len(h.ways) == 0 && len(h.wrong) > 0 {
		return // what stands in there nobody knows, and install would refuse it
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
		undo = append([]string{w.undo}, undo...) // the last that came in is the first to go
	}
	if len(where) > 0 {
		d.add(check.OK, "hooks", "installed "+strings.Join(where, ", and "), "")
	}
	if len(programs) > 1 && h.Events != nil { // the same program twice is one hook to most hosts
		what := "they are installed in more than one way, and each runs: "
		if h.Deduplicates {
			what += "a prompt is marked once, but every event costs twice as much"
		} else {
			what += "every prompt is marked more than once"
		}
		d.add(check.Warn, "twice", what, "keep one: "+strings.Join(undo, ", or "))
	}
	for _, p := range h.places {
		d.checkPlace(h, p)
	}
	d.checkBlocked(h)
}

// checkPlace says what the hooks of one scope lack.
func (d *doctor) checkPlace(h hostState, p host.Place) {
	if !slices.ContainsFunc(p.Own, func(own settings.Own) bool { return own.Undo == "" }) {
		return
	}
	if missing := h.missing(p); len(missing) > 0 {
		d.add(check.Warn, "hooks", fmt.Sprintf("%d of %d are missing in %s, as after an older ctxls: %s", len(missing), len(h.Events), p.File.Path, strings.Join(missing, ", ")),
			h.command("install", p.Scope, ""))
	}
	if problem, _ := d.programProblem(p.Own[0].Program); h.Events == nil && problem == "" && !d.installKeeps(h, p) {
		d.add(check.Warn, "hooks", p.File.Path+" is of another version of ctxls", h.command("install", p.Scope, ""))
	}
}

// checkBlocked says what keeps the host from running what is installed.
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

// entry is something in a host's settings that runs a program, and what puts it right.
type entry struct {
	what, program, fix string
	orPath             bool // the host takes the one on the PATH where this is gone
}

// checkPrograms looks whether what the host's settings name is there, and is this ctxls.
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
				e.what, e.fix = own.Place, "put the directory of ctxls on the PATH that the host is started with"
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
			d.add(check.Warn, "program", e.what+": "+problem+"; the ctxls on the PATH is run instead", e.fix)
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

// installKeeps reports whether installing anew would leave the programs of a scope as they are, since somebody has amended the
// entries.
func (d *doctor) installKeeps(h hostState, p host.Place) bool {
	_, done, err := h.Installer.Install(p.File.Path, p.File.Text, d.self, false)
	return err != nil || len(done) == 0
}

// checkStatusLine looks at the status line that the host shows here: that of the last scope which has one.
func (d *doctor) checkStatusLine(h hostState) {
	for _, p := range slices.Backward(h.places) {
		line := h.liner.StatusLine(p.File.Text)
		switch {
		case !line.Set:
			continue
		case line.Program == "":
			d.add(check.Warn, "status line", "another one ("+text.Sanitize(line.Then, 60)+"); only there does "+h.Title+" tell how large the window is", h.command("install", p.Scope, " --statusline")+" puts ours before it")
		case line.Then != "":
			d.add(check.OK, "status line", "ours, with yours behind it ("+text.Sanitize(line.Then, 60)+")", "")
		default:
			d.add(check.OK, "status line", "ours", "")
		}
		return
	}
	if len(h.ways) == 0 {
		return // which has been said, with what to do
	}
	hint := h.command("install", settings.User, " --statusline")
	if !slices.ContainsFunc(h.ways, func(w installation) bool { return !w.plugin }) { // install would bring the hooks a second time
		hint = `"statusLine": {"type": "command", "command": "ctxls statusline"} in ` + h.places[0].File.Path + "; or remove the plugin, and " + hint
	}
	d.add(check.Skip, "status line", "none; only there does "+h.Title+" tell how large the window is", hint)
}

// checkSign says when the host was last heard of.
func (d *doctor) checkSign(host session.Host, installed bool, wants string) {
	if d.state.Unreadable != nil || len(d.state.Damage) > 0 || d.state.Older {
		return // nobody can know
	}
	i := slices.IndexFunc(d.state.Sessions, func(s session.Session) bool { return s.Host == host })
	switch {
	case i >= 0:
		d.add(check.OK, "last sign", ui.Ago(d.Now.Sub(d.state.Sessions[i].UpdatedAt)), "")
	case installed:
		hint := "start a new session and type a prompt: one that runs already keeps the hooks that it began with"
		if wants != "" {
			hint += ". " + wants
		}
		d.add(check.Warn, "last sign", "installed, but no hook has ever arrived", hint)
	case slices.Contains(d.Hosts, host):
		d.add(check.Skip, "last sign", "nothing has ever arrived", "")
	}
}

// programVersion returns the version of a program by where it lies: in an npm package, or in a directory or under a name that is a
// version. It is "" where nothing says so; nothing is run.
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

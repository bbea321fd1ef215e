package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host/claudecode"
	"github.com/ctxls/ctxls/internal/host/codex"
	"github.com/ctxls/ctxls/internal/host/settings"
	"github.com/ctxls/ctxls/internal/ui"
)

// hostState is what is known of one host when its checks begin.
type hostState struct {
	installer
	found  bool
	where  string   // it was found, and its version
	places []place  // one a scope that could be read
	wrong  []string // why others could not
	ways   []way    // that ctxls was put in
}

// place is the settings of one scope, and what in it runs ctxls at events.
type place struct {
	scope settings.Scope
	file  *settings.File
	own   []settings.Own
}

// way is one way in which ctxls was put into a host.
type way struct {
	what    string // "for the user (FILE)"
	program string // that is run
	undo    string // what takes it out
	whole   bool   // nothing of it is missing
	plugin  bool
}

func (d *doctor) checkHosts() {
	hosts := d.lookAtHosts()
	d.group = "hosts"
	some, ways := false, 0
	for _, h := range hosts {
		some = some || h.found
		ways += len(h.ways)
		switch {
		case h.found:
			d.add(ui.CheckOK, string(h.host), h.where, "")
		case len(d.hosts) > 0:
			d.add(ui.CheckWarn, string(h.host), "not found on this machine: no "+h.program+" on the PATH, and no directory of its own", "")
		default:
			d.add(ui.CheckSkip, string(h.host), "not found on this machine", "")
		}
	}
	if !some && len(d.hosts) == 0 {
		d.add(ui.CheckWarn, "none", "there is no agent host that ctxls installs into", "install one, then 'ctxls install' says what it would do; docs/hosts.md shows how any other agent tells ctxls of its sessions")
	}
	for _, h := range hosts {
		d.group = string(h.host)
		if h.found || len(h.ways) > 0 {
			d.checkHooks(h, ways > 0)
			d.checkPrograms(h)
			if h.statusline {
				d.checkStatusLine(h)
			}
		}
		d.checkSign(h.host, len(h.ways) > 0, h.wants)
	}
	d.group = string(core.HostGeneric)
	if d.asked(core.HostGeneric) {
		d.checkSign(core.HostGeneric, false, "")
	}
}

// lookAtHosts reads what the settings of the hosts say that were asked about.
func (d *doctor) lookAtHosts() (hosts []hostState) {
	for n, p := range d.survey(settings.User).Hosts {
		h := hostState{installer: installers[n], found: p.Found}
		if !d.asked(h.host) {
			continue
		}
		var where []string
		if p.Program != nil {
			where = append(where, strings.TrimSpace(programVersion(*p.Program)+" "+*p.Program))
		}
		if p.Directory != nil {
			where = append(where, *p.Directory)
		}
		h.where = strings.Join(where, ", ")
		seen := ""
		for _, scope := range h.scopes {
			path, _ := filepath.Abs(h.settingsFile(scope, d.getenv, d.home, d.cwd))
			if path == seen && d.home != "" {
				continue // in the home directory the project's file is the user's
			}
			seen = path
			file, err := d.openSettings(h.installer, scope)
			if err == nil {
				_, _, err = h.install(file.Path, file.Text, d.self, false) // which says what is wrong with the file
			}
			if err != nil {
				h.wrong = append(h.wrong, err.Error())
				continue
			}
			h.places = append(h.places, place{scope, file, h.own(file.Text)})
		}
		for _, p := range h.places {
			h.ways = append(h.ways, h.waysOf(p)...)
		}
		hosts = append(hosts, h)
	}
	return hosts
}

// waysOf returns the ways that lead through the settings of a scope.
func (h hostState) waysOf(p place) (ways []way) {
	for _, own := range p.own {
		w := way{"for the " + string(p.scope) + " (" + p.file.Path + ")", own.Program, "'" + h.command("uninstall", p.scope, "") + "'", len(h.missing(p)) == 0, false}
		if isPlugin(own) {
			w = way{"as " + own.Place + " (" + p.file.Path + ")", own.Program, "/plugin in Claude Code, which switches a plugin off", true, true}
		}
		if !slices.Contains(ways, w) {
			ways = append(ways, w)
		}
	}
	return ways
}

func isPlugin(own settings.Own) bool { return strings.HasPrefix(own.Place, claudecode.PluginPlace) }

// missing returns the events at which a scope's hooks do not run ctxls.
func (h hostState) missing(p place) (events []string) {
	for _, event := range h.events {
		if !slices.ContainsFunc(p.own, func(own settings.Own) bool { return own.Place == event.Event }) {
			events = append(events, event.Event)
		}
	}
	return events
}

// command returns the command line that puts ctxls into a scope of the host, or takes it out.
func (h hostState) command(verb string, scope settings.Scope, more string) string {
	line := "ctxls " + verb + " " + string(h.host) + more
	if scope != settings.User {
		line += " --" + string(scope)
	}
	return line
}

// checkHooks looks at what runs ctxls at the host's events. elsewhere says that some host has been given ctxls.
func (d *doctor) checkHooks(h hostState, elsewhere bool) {
	for _, wrong := range h.wrong {
		d.add(ui.CheckFail, "settings", wrong, "mend the file: its host may not read it either")
	}
	if len(h.ways) == 0 && len(h.wrong) > 0 {
		return // what stands in there nobody knows, and install would refuse it
	}
	if len(h.ways) == 0 {
		status, more := ui.CheckWarn, ""
		if elsewhere {
			status = ui.CheckSkip
		}
		if h.statusline {
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
		d.add(ui.CheckOK, "hooks", "installed "+strings.Join(where, ", and "), "")
	}
	if len(programs) > 1 && h.events != nil { // the same program twice is one hook to most hosts
		what := "they are installed in more than one way, and each runs: "
		if h.once {
			what += "a prompt is marked once, but every event costs twice as much"
		} else {
			what += "every prompt is marked more than once"
		}
		d.add(ui.CheckWarn, "twice", what, "keep one: "+strings.Join(undo, ", or "))
	}
	for _, p := range h.places {
		d.checkPlace(h, p)
	}
	d.checkOff(h)
	if h.host == core.HostCodex {
		d.checkTrust(h)
	}
}

// checkPlace says what the hooks of one scope lack.
func (d *doctor) checkPlace(h hostState, p place) {
	if !slices.ContainsFunc(p.own, func(own settings.Own) bool { return !isPlugin(own) }) {
		return
	}
	if missing := h.missing(p); len(missing) > 0 {
		d.add(ui.CheckWarn, "hooks", fmt.Sprintf("%d of %d are missing in %s, as after an older ctxls: %s", len(missing), len(h.events), p.file.Path, strings.Join(missing, ", ")),
			h.command("install", p.scope, ""))
	}
	if problem, _ := d.programProblem(p.own[0].Program); h.events == nil && problem == "" && !d.installKeeps(h, p) {
		d.add(ui.CheckWarn, "hooks", p.file.Path+" is of another version of ctxls", h.command("install", p.scope, ""))
	}
}

// checkOff says what keeps the host from running what is installed.
func (d *doctor) checkOff(h hostState) {
	for _, p := range h.places {
		var notes []string
		switch {
		case len(p.own) > 0:
			notes = h.notesOn(p.file.Text)
		case h.off != nil:
			notes = h.off(p.file.Text)
		}
		for _, note := range notes {
			d.add(ui.CheckFail, "switched off", p.file.Path+": "+strings.TrimPrefix(note, "note: "), "edit that file")
		}
	}
	if h.host == core.HostCodex {
		for _, note := range codex.HooksOff(d.getenv, d.home) {
			d.add(ui.CheckFail, "switched off", note, "remove that line")
		}
	}
}

// checkTrust says how many of the hooks Codex has been told to trust.
func (d *doctor) checkTrust(h hostState) {
	for _, p := range h.places {
		if len(p.own) == 0 {
			continue
		}
		trusted, off := codex.Trusted(d.getenv, d.home, p.file.Path, p.own)
		switch what := fmt.Sprintf("%d of %d hooks in %s", trusted, len(p.own), p.file.Path); {
		case trusted < len(p.own):
			d.add(ui.CheckWarn, "trust", what+" are trusted; Codex skips the others without a word", "start codex and type /hooks, then trust them")
		case off > 0:
			d.add(ui.CheckWarn, "trust", fmt.Sprintf("%s are trusted, but %d are switched off", what, off), "start codex and type /hooks, then switch them on")
		default:
			d.add(ui.CheckOK, "trust", what+" are trusted, if they have not changed since", "")
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
		for _, own := range p.own {
			e := entry{"hooks", own.Program, h.command("install", p.scope, ""), h.orPath}
			if h.events == nil {
				e.what = own.Place
			}
			if d.installKeeps(h, p) {
				e.fix = "edit " + p.file.Path
			}
			if isPlugin(own) {
				e.what, e.fix = own.Place, "put the directory of ctxls on the PATH that the host is started with"
			}
			entries = append(entries, e)
		}
		if _, program, _ := claudecode.StatusLine(p.file.Text); h.statusline && program != "" {
			entries = append(entries, entry{"status line", program, h.command("install", p.scope, " --statusline"), false})
		}
	}
	for _, own := range h.servers(d.getenv, d.home, d.cwd) {
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
			d.add(ui.CheckWarn, "program", e.what+": "+problem+"; the ctxls on the PATH is run instead", e.fix)
			continue
		}
		switch {
		case gone:
			d.add(ui.CheckFail, "program", e.what+": "+problem, e.fix)
		case problem != "":
			d.add(ui.CheckWarn, "program", e.what+": "+problem, e.fix)
		case !slices.Contains(fine, e.what):
			fine = append(fine, e.what)
		}
	}
	if len(fine) > 0 {
		d.add(ui.CheckOK, "program", "this ctxls is run by "+strings.Join(fine, ", "), "")
	}
}

// installKeeps reports whether installing anew would leave the programs of a scope as they are, since somebody has amended the
// entries.
func (d *doctor) installKeeps(h hostState, p place) bool {
	_, done, err := h.install(p.file.Path, p.file.Text, d.self, false)
	return err != nil || len(done) == 0
}

// checkStatusLine looks at the status line that the host shows here: that of the last scope which has one.
func (d *doctor) checkStatusLine(h hostState) {
	for _, p := range slices.Backward(h.places) {
		there, program, then := claudecode.StatusLine(p.file.Text)
		switch {
		case !there:
			continue
		case program == "":
			d.add(ui.CheckWarn, "status line", "another one ("+core.Sanitize(then, 60)+"); only there does Claude Code tell how large the window is", h.command("install", p.scope, " --statusline")+" puts ours before it")
		case then != "":
			d.add(ui.CheckOK, "status line", "ours, with yours behind it ("+core.Sanitize(then, 60)+")", "")
		default:
			d.add(ui.CheckOK, "status line", "ours", "")
		}
		return
	}
	if len(h.ways) == 0 {
		return // which has been said, with what to do
	}
	hint := h.command("install", settings.User, " --statusline")
	if !slices.ContainsFunc(h.ways, func(w way) bool { return !w.plugin }) { // install would bring the hooks a second time
		hint = `"statusLine": {"type": "command", "command": "ctxls statusline"} in ` + h.places[0].file.Path + "; or remove the plugin, and " + hint
	}
	d.add(ui.CheckSkip, "status line", "none; only there does Claude Code tell how large the window is", hint)
}

// checkSign says when the host was last heard of.
func (d *doctor) checkSign(host core.Host, installed bool, wants string) {
	if d.state.Unreadable != nil || len(d.state.Damage) > 0 || d.state.Older {
		return // nobody can know
	}
	i := slices.IndexFunc(d.state.Sessions, func(s core.Session) bool { return s.Host == host })
	switch {
	case i >= 0:
		d.add(ui.CheckOK, "last sign", ui.Ago(d.now.Sub(d.state.Sessions[i].UpdatedAt)), "")
	case installed:
		hint := "start a new session and type a prompt: one that runs already keeps the hooks that it began with"
		if wants != "" {
			hint += ". " + wants
		}
		d.add(ui.CheckWarn, "last sign", "installed, but no hook has ever arrived", hint)
	case slices.Contains(d.hosts, host):
		d.add(ui.CheckSkip, "last sign", "nothing has ever arrived", "")
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

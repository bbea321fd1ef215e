package doctor

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/check"
	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/store"
	"github.com/ctxls/ctxls/internal/ui"
)

// What is left on a disk, in bytes, from which on it is near its end, and from which on nothing more can be relied upon.
const (
	littleSpace = 64 << 20
	noSpace     = 1 << 20
)

func (d *doctor) checkState() {
	d.group = "state"
	in := d.state
	switch {
	case !in.Exists && in.Unreadable == nil:
		d.add(check.Skip, "file", in.Path+" is not there yet: the first hook makes it", "")
	case in.Foreign:
		d.add(check.Skip, "file", in.Path+" is some other file", "")
	case in.Exists:
		what := fmt.Sprintf("%s (%s, %s, mode %04o)", in.Path, store.Engine, size(in.Bytes+in.LogBytes), in.Mode)
		switch {
		case !in.Owned:
			d.add(check.Warn, "file", what+" belongs to another user", "sudo chown -R \"$USER\" "+quoted(filepath.Dir(in.Path)))
		case in.Mode&0o077 != 0 && filepath.Separator == '/':
			d.add(check.Warn, "file", what+" can be read by others", "chmod 600 "+quoted(in.Path))
		default:
			d.add(check.OK, "file", what, "")
		}
	}
	if in.Network != "" {
		d.add(check.Warn, "place", fmt.Sprintf("the usual place is on a network file system (%s), so this one is used; it is gone when temporary files are removed", in.Network),
			"name a file on this machine with store.path in "+d.Sources.UserFile)
	}
	if in.Unwritable != nil {
		d.add(check.Fail, "writable", in.Unwritable.Error()+": "+filepath.Dir(in.Path), "make it and its directory yours to write, or name another file with store.path in "+d.Sources.UserFile)
	} else {
		d.add(check.OK, "writable", "yes", "")
	}
	switch free := in.FreeBytes; {
	case free >= 0 && free < noSpace:
		d.add(check.Fail, "disk", "full: "+size(free)+" left", "make room, or name a file on another disk with store.path in "+d.Sources.UserFile)
	case free >= 0 && free < littleSpace:
		d.add(check.Warn, "disk", size(free)+" left", "make room before the state cannot be written any more")
	case free >= 0:
		d.add(check.OK, "disk", size(free)+" left", "")
	}
	switch {
	case in.Unreadable != nil:
		d.add(check.Fail, "content", in.Unreadable.Error(), unreadableHint(in.Unreadable))
	case len(in.Damage) > 0:
		d.add(check.Fail, "content", "damaged: "+strings.Join(in.Damage, "; "),
			"'ctxls sessions' moves it aside and starts a fresh one; a hook does so too; what is in it of sessions that go on comes back with their next response")
	case in.Older:
		d.add(check.OK, "content", "of an older format, which the next hook brings up to date", "")
	case in.Exists && len(in.Sessions) == 0:
		d.add(check.OK, "content", "sound; no session yet", "")
	case in.Exists:
		d.add(check.OK, "content", fmt.Sprintf("sound; %s, the newest %s", ui.Count(len(in.Sessions), "session"), ui.Ago(d.Now.Sub(in.Sessions[0].UpdatedAt))), "")
	}
	if in.Abandoned {
		d.add(check.Warn, "log", "the state was removed or replaced while its log was still there", "the next hook moves "+quoted(in.Path+"-wal")+" aside and starts anew")
	}
	if n := len(in.Aside); n > 0 {
		what := "damaged state"
		if strings.HasSuffix(in.Aside[n-1], "-wal") {
			what = "damaged or removed state"
		}
		d.add(check.Warn, "moved aside", fmt.Sprintf("%s, the last %s", ui.Count(n, what), in.Aside[n-1]), "rm "+quoted(in.Path)+".corrupt-* once nobody wants to look into it")
	}
}

// unreadableHint says what to do about a state that cannot be read.
func unreadableHint(err error) string {
	if coded.CodeOf(err) == coded.Invalid {
		return "'ctxls config path' shows where the name comes from"
	}
	return "where the message names no remedy: move the file away, and the next hook starts a fresh one"
}

// quoted returns a path as a word for a shell.
func quoted(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@%:,\\") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

const (
	// maxLogRead is how much of the log's end is looked at, in bytes.
	maxLogRead = 256 << 10
	// maxLogLines is how many of its lines are shown.
	maxLogLines = 3
	// freshLog is how old a line may be to say something about how things are.
	freshLog = 24 * time.Hour
)

func (d *doctor) checkLog() {
	path := d.LogPath(d.cfg)
	txt, whole, err := readEnd(path, maxLogRead)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.add(check.OK, "log", path+" is not there: nothing was ever worth a line", "")
		return
	case err != nil:
		d.add(check.Warn, "log", "cannot be read: "+err.Error(), "name another file with log.path in "+d.Sources.UserFile)
		return
	}
	d.add(check.OK, "log", path+" ("+size(whole)+")", "")
	logLine := regexp.MustCompile(`^time=(\S+) level=(WARN|ERROR) msg=("(?:[^"\\]|\\.)*"|\S+)(.*)$`) // as log/slog writes a warning or an error
	shown := 0
	for _, line := range slices.Backward(strings.Split(string(txt), "\n")) {
		parts := logLine.FindStringSubmatch(line)
		if parts == nil {
			continue
		}
		at, err := time.Parse(time.RFC3339, parts[1])
		if err != nil || d.Now.Sub(at) > freshLog || shown == maxLogLines {
			break
		}
		shown++
		message, err := strconv.Unquote(parts[3])
		if err != nil {
			message = parts[3]
		}
		hint := ""
		if shown == 1 {
			hint = "docs/troubleshooting.md says what messages mean; 'tail " + quoted(path) + "' shows more"
		}
		d.add(check.Warn, strings.ToLower(strings.Replace(parts[2], "WARN", "warning", 1)), text.Sanitize(ui.Ago(d.Now.Sub(at))+": "+message+parts[4], 300), hint)
	}
}

// readEnd returns the lines at the end of a regular file, at most so many bytes, and how large the file is.
func readEnd(path string, most int64) (text []byte, whole int64, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe would have to be waited for
		return nil, 0, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	from := max(info.Size()-most, 0)
	text, err = io.ReadAll(io.NewSectionReader(f, from, most))
	if from > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, info.Size(), err
}

// sessions returns those of the hosts that were asked about, the newest first.
func (d *doctor) sessions() (all []session.Session) {
	for _, s := range d.state.Sessions {
		if d.asked(s.Host) {
			all = append(all, s)
		}
	}
	return all
}

func (d *doctor) checkTranscripts() {
	d.group = "sessions"
	var named, goneAlive, goneEnded int
	example := ""
	for _, s := range d.sessions() {
		if s.Transcript == "" {
			continue
		}
		named++
		if _, _, err := readEnd(s.Transcript, 1); err == nil {
			continue
		}
		if s.EndedAt.IsZero() && d.Now.Sub(s.UpdatedAt) < session.IdleAfter {
			goneAlive++
			example = s.Transcript
		} else {
			goneEnded++
		}
	}
	what := fmt.Sprintf("%d of %d can be read", named-goneAlive-goneEnded, named)
	switch {
	case named == 0:
		d.add(check.Skip, "transcripts", "no session has named one", "")
	case goneAlive > 0:
		d.add(check.Warn, "transcripts", fmt.Sprintf("%s; that of a session at work cannot, such as %s", what, example),
			"until its host writes it, or you may read it, the figures come from the status line and from estimates")
	case goneEnded > 0:
		d.add(check.OK, "transcripts", what+"; the others are of sessions that are over or idle, and were removed", "")
	default:
		d.add(check.OK, "transcripts", what, "")
	}
}

// maxWindows is of how many models doctor shows the window: those of the newest sessions.
const maxWindows = 5

func (d *doctor) checkWindows() {
	type modelID struct {
		host            session.Host
		provider, plain string
	}
	learned := map[modelID]session.LearnedWindow{}
	for _, w := range d.state.Windows {
		learned[modelID{w.Host, w.Provider, w.Model}] = w
	}
	loader, seen := config.NewLoader(d.Sources), map[modelID]bool{}
	for _, s := range d.sessions() {
		m := modelID{s.Host, s.Provider, model.Plain(s.Model)}
		if s.Model == "" || seen[m] || len(seen) == maxWindows {
			continue
		}
		seen[m] = true
		var rules session.Rules
		h, known := registry.Find(s.Host)
		if known {
			rules = h.Adapter(d.Env.Getenv).Rules()
		}
		cfg, _ := loader.For(cmp.Or(s.CWD, d.Env.CWD)) // a workspace may know better
		usage := core.View(session.Snapshot{Session: s}, learned[m], cfg, rules, d.Now).Usage
		what := fmt.Sprintf("%s in %s: %s, %s", s.Model, s.Host, ui.Tokens(usage.WindowTokens), usage.WindowWhy)
		if usage.WindowProvenance != model.WindowFromDefault {
			d.add(check.OK, "window", what, "")
			continue
		}
		hint := fmt.Sprintf(`{"window": {"overrides": {%q: TOKENS}}} in %s says how large it is`, model.Plain(s.Model), d.Sources.UserFile)
		if _, ok := h.Installer.(host.StatusLiner); ok {
			hint = fmt.Sprintf("'ctxls install %s --statusline': there %s tells it. Or %s", h.Name, h.Title, hint)
		}
		d.add(check.Warn, "window", what+". That is only assumed", hint)
	}
	if len(seen) == 0 {
		d.add(check.Skip, "window", "no session has named its model", "")
	}
}

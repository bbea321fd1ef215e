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

// The free space, in bytes, below which doctor warns, and below which it fails.
const (
	littleSpace = 64 << 20
	noSpace     = 1 << 20
)

func (d *doctor) checkState() {
	d.group = "state"
	in := d.state
	switch {
	case !in.Exists && in.Unreadable == nil:
		d.add(check.Skip, "file", in.Path+" does not exist yet; the first hook creates it", "")
	case in.Foreign:
		d.add(check.Skip, "file", in.Path+" is some other file", "")
	case in.Exists:
		what := fmt.Sprintf("%s (%s, %s, mode %04o)", in.Path, store.Engine, size(in.Bytes+in.LogBytes), in.Mode)
		if filepath.Separator == '\\' { // access lists say there who may read it: those of the user's own directory
			what = fmt.Sprintf("%s (%s, %s)", in.Path, store.Engine, size(in.Bytes+in.LogBytes))
		}
		switch {
		case !in.Owned:
			d.add(check.Warn, "file", what+" belongs to another user", "sudo chown -R \"$USER\" "+quoted(filepath.Dir(in.Path)))
		case in.Mode&0o077 != 0 && filepath.Separator == '/':
			d.add(check.Warn, "file", what+" is readable by other users", "chmod 600 "+quoted(in.Path))
		default:
			d.add(check.OK, "file", what, "")
		}
	}
	if in.Network != "" {
		d.add(check.Warn, "place", fmt.Sprintf("the default place is on a file system (%s) that cannot hold the state safely, so this one is used; it is lost when temporary files are removed", in.Network),
			"set store.path to a file on this machine, in "+d.Sources.UserFile)
	}
	if in.Unwritable != nil {
		d.add(check.Fail, "writable", in.Unwritable.Error()+": "+filepath.Dir(in.Path), "make the file and its directory writable, or name another file with CTXLS_STORE_PATH, or with store.path in "+d.Sources.UserFile)
	} else {
		d.add(check.OK, "writable", "yes", "")
	}
	switch free := in.FreeBytes; {
	case free >= 0 && free < noSpace:
		d.add(check.Fail, "disk", "full: "+size(free)+" left", "free some space, or set store.path to a file on another disk, in "+d.Sources.UserFile)
	case free >= 0 && free < littleSpace:
		d.add(check.Warn, "disk", size(free)+" left", "free some space, before the state can no longer be written")
	case free >= 0:
		d.add(check.OK, "disk", size(free)+" left", "")
	}
	switch {
	case in.Unreadable != nil:
		d.add(check.Fail, "content", in.Unreadable.Error(), unreadableHint(in.Unreadable))
	case len(in.Damage) > 0:
		d.add(check.Fail, "content", "damaged: "+strings.Join(in.Damage, "; "),
			"'ctxls sessions' or the next hook moves it aside and starts a new one; running sessions reappear with their next response")
	case in.Older:
		d.add(check.OK, "content", "in an older format, which the next hook updates", "")
	case in.Exists && len(in.Sessions) == 0:
		d.add(check.OK, "content", "valid; no sessions yet", "")
	case in.Exists:
		d.add(check.OK, "content", fmt.Sprintf("valid; %s, the newest %s", ui.Count(len(in.Sessions), "session"), ui.Ago(d.Now.Sub(in.Sessions[0].UpdatedAt))), "")
	}
	if in.Abandoned {
		d.add(check.Warn, "log", "the state was removed or replaced while its log was still there", "the next hook moves "+quoted(in.Path+"-wal")+" aside and starts a new state")
	}
	if n := len(in.Aside); n > 0 {
		what := "damaged state"
		if strings.HasSuffix(in.Aside[n-1], "-wal") {
			what = "damaged or removed state"
		}
		d.add(check.Warn, "moved aside", fmt.Sprintf("%s, the last %s", ui.Count(n, what), in.Aside[n-1]), "rm "+quoted(in.Path)+".corrupt-* when you no longer need them")
	}
}

// unreadableHint says what to do about an unreadable state.
func unreadableHint(err error) string {
	if coded.CodeOf(err) == coded.Invalid {
		return "'ctxls config path' shows which setting names it"
	}
	return "if the message does not say what to do, move the file away; the next hook starts a new one"
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
	// maxLogRead is how much of the log's end is read, in bytes.
	maxLogRead = 256 << 10
	// maxLogLines is how many of its lines are shown.
	maxLogLines = 3
	// freshLog is the largest age of a line that is shown.
	freshLog = 24 * time.Hour
)

func (d *doctor) checkLog() {
	path := d.LogPath(d.cfg)
	txt, whole, err := readEnd(path, maxLogRead)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.add(check.OK, "log", "no log yet: nothing to report ("+path+")", "")
		return
	case err != nil:
		d.add(check.Warn, "log", "cannot be read: "+err.Error(), "set log.path to another file, in "+d.Sources.UserFile)
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
		message, err := strconv.Unquote(parts[3])
		if err != nil {
			message = parts[3]
		}
		if strings.HasPrefix(message, "settings") { // checkSettings shows those that still are
			continue
		}
		shown++
		hint := ""
		if shown == 1 {
			hint = "docs/troubleshooting.md explains messages; 'tail " + quoted(path) + "' shows more"
		}
		d.add(check.Warn, strings.ToLower(strings.Replace(parts[2], "WARN", "warning", 1)), text.Sanitize(ui.Ago(d.Now.Sub(at))+": "+message+parts[4], 300), hint)
	}
}

// readEnd returns the lines at the end of a regular file, at most most bytes, and the size of the file.
func readEnd(path string, most int64) (text []byte, whole int64, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe could block
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

// sessions returns the sessions of the hosts to check, the newest first.
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
		d.add(check.Skip, "transcripts", "no conversation files known yet", "")
	case goneAlive > 0:
		d.add(check.Warn, "transcripts", fmt.Sprintf("%s; that of an active session cannot, such as %s", what, example),
			"until the host has written it and you may read it, figures come from the status line and from estimates")
	case goneEnded > 0:
		d.add(check.OK, "transcripts", what+"; the others belonged to ended or idle sessions and were removed", "")
	default:
		d.add(check.OK, "transcripts", what, "")
	}
}

// maxWindows is how many models are checked: those of the newest sessions.
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
		cfg, _ := loader.For(cmp.Or(s.CWD, d.Env.CWD)) // a workspace may set a window
		usage := core.View(session.Snapshot{Session: s}, learned[m], cfg, rules, d.Now).Usage
		what := fmt.Sprintf("%s in %s: %s, %s", s.Model, s.Host, ui.Tokens(usage.WindowTokens), usage.WindowWhy)
		if usage.WindowProvenance != model.WindowFromDefault {
			d.add(check.OK, "window", what, "")
			continue
		}
		hint := fmt.Sprintf(`set {"window": {"overrides": {%q: TOKENS}}} in %s`, model.Plain(s.Model), d.Sources.UserFile)
		if _, ok := h.Installer.(host.StatusLiner); ok {
			hint = fmt.Sprintf("run 'ctxls install %s --statusline', where %s reports it; or %s", h.Name, h.Title, hint)
		}
		d.add(check.Warn, "window", what+" (a default)", hint)
	}
	if len(seen) == 0 {
		d.add(check.Skip, "window", "no models known yet", "")
	}
}

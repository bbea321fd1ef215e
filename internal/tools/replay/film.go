package main

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/ui"
)

// Sizes of the film in characters and rows.
const (
	filmColumns = 66 // of the agent's terminal
	filmRows    = 17 // of it, above the prompt
	toldRows    = 9  // at most, of one text that ctxls gave to the agent
	filesShown  = 4  // in the editor
)

// row is a row of the agent's terminal: its text and the class that colours it.
type row struct{ class, text string }

// frame is what both programs show for a while.
type frame struct {
	lasts  time.Duration
	rows   []row  // new in the agent's terminal
	status string // the line below its prompt
	color  string // the level that the line tells, a class
	view   core.SessionView
}

// film turns what happened into frames. Each lasts as long as its new rows take to read, so that a whole session passes in well
// below a minute.
func film(moments []moment) []frame {
	var frames []frame
	status, color := "", "unknown"
	for _, m := range moments {
		f := frame{lasts: 120 * time.Millisecond, view: m.seen, status: status, color: color}
		if m.event.Name == statusLine {
			f.status, f.color = cutTo(text.Sanitize(m.shown, 200), filmColumns), levelOf(m.seen)
		}
		if l, ok := story(m.event); ok && m.event.Name != "SessionEnd" {
			f.rows = append(f.rows, told(l)...)
			f.lasts += pause(l.who)
		}
		if m.told != "" {
			rows := ctxlsSays(m.told)
			f.rows = append(f.rows, rows...)
			f.lasts += time.Duration(len(rows)) * 170 * time.Millisecond
		}
		if last := len(frames) - 1; last >= 0 && len(f.rows) == 0 && f.status == status && shows(frames[last].view) == shows(f.view) {
			continue
		}
		status, color = f.status, f.color
		frames = append(frames, f)
	}
	if len(frames) > 0 {
		frames[len(frames)-1].lasts += 2 * time.Second
	}
	return frames
}

// pause is how long the eye stays with a line.
func pause(who string) time.Duration {
	switch who {
	case "user", "agent":
		return 550 * time.Millisecond
	case "host":
		return 900 * time.Millisecond
	}
	return 260 * time.Millisecond
}

// told lays out a line of the story as a terminal of an agent does.
func told(l line) []row {
	lead, class := "● ", "t"
	switch l.who {
	case "user":
		lead, class = "❯ ", "u"
	case "tools":
		class = "d"
	case "host":
		lead, class = "✻ ", "h"
	}
	rows := hang(lead, class, l.text)
	if l.who == "user" {
		rows = append([]row{{}}, rows...)
	}
	return rows
}

// ctxlsSays lays out what ctxls gave to the agent, the first rows of it.
func ctxlsSays(said string) []row {
	var rows []row
	for part := range strings.SplitSeq(said, "\n") {
		lead := "  ctxls ▸ "
		if len(rows) > 0 {
			lead = strings.Repeat(" ", 10)
		}
		if strings.TrimSpace(part) != "" {
			rows = append(rows, hang(lead, "c", strings.TrimPrefix(part, "ctxls: "))...)
		}
	}
	if len(rows) > toldRows {
		rows = append(rows[:toldRows-1], row{"c", strings.Repeat(" ", 10) + "…"})
	}
	return rows
}

// hang wraps a text below itself, behind a lead.
func hang(lead, class, words string) []row {
	width := len([]rune(lead))
	var rows []row
	for _, part := range wrap(words, filmColumns-width) {
		rows = append(rows, row{class, lead + cutTo(part, filmColumns-width)})
		lead = strings.Repeat(" ", width)
	}
	return rows
}

// gaugeItem is the text of VS Code's status bar in its first format.
func gaugeItem(s core.SessionView) string {
	if s.Usage.ToCompaction == nil {
		return headline(s)
	}
	return headline(s) + " · " + remaining(s)
}

// headline is the share of the window; "?" where it is unknown.
func headline(s core.SessionView) string {
	if s.Usage.Display.Percent == nil {
		return "?"
	}
	return fmt.Sprintf("%s%d%%", mark(s), *s.Usage.Display.Percent)
}

// remaining is what is left until the host compacts.
func remaining(s core.SessionView) string {
	u := s.Usage
	if u.ToCompaction == nil {
		return "? to compaction"
	}
	mark := mark(s)
	if u.ProjectedTokens != nil && u.Tokens != nil && *u.ProjectedTokens != *u.Tokens {
		mark = "~"
	}
	return mark + ui.Tokens(*u.ToCompaction) + " to compaction"
}

func mark(s core.SessionView) string {
	if p := s.Usage.Provenance; p != nil && *p == session.ProvenanceEstimate {
		return "~"
	}
	return ""
}

// filled says of how many tokens the window is full.
func filled(s core.SessionView) string {
	if s.Usage.Tokens == nil {
		return "? of " + ui.Tokens(s.Usage.WindowTokens)
	}
	return mark(s) + ui.Tokens(*s.Usage.Tokens) + " of " + ui.Tokens(s.Usage.WindowTokens) + " tokens"
}

// levelOf is the level in a word, "compacting" while the host does so.
func levelOf(s core.SessionView) string {
	switch {
	case s.Compacting:
		return "compacting"
	case s.Usage.Level == nil:
		return "unknown"
	}
	return string(*s.Usage.Level)
}

// files are the names of those in use.
func files(s core.SessionView) string {
	var names []string
	for _, f := range s.WorkingSet[:min(len(s.WorkingSet), filesShown)] {
		names = append(names, strings.TrimPrefix(f, s.CWD+"/"))
	}
	return strings.Join(names, "\n")
}

// shows is all that the editor shows of a session.
func shows(s core.SessionView) string {
	return strings.Join([]string{gaugeItem(s), filled(s), levelOf(s), files(s), path.Base(s.CWD), s.Model}, "|")
}

// cutTo cuts a text to a number of characters.
func cutTo(s string, width int) string { return (&screen{width: width + indent}).fit(s) }

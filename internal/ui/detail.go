package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// detail is one session on the live screen.
type detail struct {
	view    core.SessionDetail
	samples []session.Sample
	read    bool   // samples and breakdown were read
	failed  string // why they could not be read
	done    int    // percent of the record read so far
}

const historyHeight = 5

// oneLineGauge is the width at which a gauge always fits on one line, so that the lines below do not move when its figures grow.
const oneLineGauge = 96

// detailText draws a session: its gauge, history, breakdown, sub-agents and files in use.
func detailText(d detail, now time.Time, l Style) string {
	var b strings.Builder
	u, s := d.view.Usage, d.view
	heading := func(text string) { b.WriteString("\n" + l.paint(strong, text) + "\n") }
	line := func(style lipgloss.Style, parts ...string) {
		b.WriteString(l.paint(style, fit(strings.Join(parts, " · "), l.Width)) + "\n")
	}
	line(strong, string(s.Host), orUnknown(projectOf(s.SessionView)), orUnknown(safe(s.Model, 60)), stateText(s.SessionView), safe(s.SessionID, 60))
	if title := safe(s.Title, 0); title != "" {
		line(lipgloss.NewStyle(), title)
	}
	held := []string{gauge(u, min(20, l.Width/4)) + " " + percentText(u), tokenPair(u) + " tokens"}
	left := []string{leftText(u), nTurns(forecastText(u, true)) + " left"}
	if l.Width >= oneLineGauge {
		line(levelStyle(u.Level), slices.Concat(held, left)...)
	} else {
		line(levelStyle(u.Level), held...)
		line(levelStyle(u.Level), left...)
	}
	line(faint, Count(s.Compactions, "compaction"), "updated "+ago(now.Sub(s.UpdatedAt)), fmt.Sprintf("window %s: %s", tokens(u.WindowTokens), safe(u.WindowWhy, 100)))
	if d.failed != "" {
		heading(safe(d.failed, 0))
	}
	if !d.read {
		if d.failed == "" {
			heading(fmt.Sprintf("reading the conversation … %d%%", d.done))
		}
		return l.clamp(b.String())
	}
	heading("history")
	if chart := history(d.samples, now, l, min(l.Width-8, 160), historyHeight); chart != "" {
		b.WriteString(chart)
	} else {
		b.WriteString(unknown + "\n")
	}
	heading("what fills the window")
	b.WriteString(partsAndFiles(s.Breakdown, now, l))
	if len(s.Agents)+len(s.AgentsEnded) > 0 {
		heading("sub-agents")
		var rows [][]cell
		for i, a := range slices.Concat(s.Agents, s.AgentsEnded) {
			state := core.StateActive
			if i >= len(s.Agents) {
				state = core.StateEnded
			}
			rows = append(rows, []cell{{text: orUnknown(safe(a.AgentType, 24))}, {text: gauge(a.Usage, 10), style: levelStyle(a.Usage.Level)},
				{text: percentText(a.Usage), right: true}, {text: tokenPair(a.Usage), right: true}, {text: string(state), style: faint}})
		}
		b.WriteString(l.grid(rows))
	}
	heading("files in use")
	if len(s.WorkingSet) == 0 {
		b.WriteString("none yet\n")
	}
	for _, p := range s.WorkingSet {
		b.WriteString(fitEnd(orUnknown(safe(p, 0)), l.Width) + "\n")
	}
	return l.clamp(b.String())
}

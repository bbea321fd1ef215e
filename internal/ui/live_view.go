package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

var chosen = lipgloss.NewStyle().Bold(true).Reverse(true)

// View draws the screen.
func (m *live) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(time.Now()), "\n"))
	v.AltScreen = true
	return v
}

// lines returns the lines of the screen, at most its height.
func (m *live) lines(now time.Time) []string {
	if m.style.Width == 0 || m.height == 0 {
		return nil // the size of the terminal is not known yet
	}
	body := max(m.height-1, 1) // the last line is for hints
	var lines []string
	var hint string
	switch {
	case m.help:
		lines, hint = m.helpLines(), "any key goes back"
	case m.open != nil:
		lines, hint = m.openLines(now, body), "↑↓ scroll · esc back · ? help · q quit"
	default:
		lines, hint = m.tableLines(now, body), "↑↓ choose · enter open · s sort · / filter · a ended · ? help · q quit"
	}
	lines = lines[:min(len(lines), body)]
	for len(lines) < body {
		lines = append(lines, "")
	}
	if m.typing {
		const before = "filter: "
		hint = before + fitEnd(m.words+"█", m.style.Width-len(before)) // keeps the cursor visible
	} else {
		hint = m.style.paint(faint, fit(shortHint(hint, m.style.Width), m.style.Width))
	}
	return append(lines, fit(hint, m.style.Width))
}

// shortHint leaves keys out of the end of a hint, but for help and quit, until it is no wider than width.
func shortHint(hint string, width int) string {
	const separator = " · "
	keys := strings.Split(hint, separator)
	for lipgloss.Width(strings.Join(keys, separator)) > width && len(keys) > 2 {
		keys = slices.Delete(keys, len(keys)-3, len(keys)-2)
	}
	return strings.Join(keys, separator)
}

// tableLines draws the table, scrolled to the selected session.
func (m *live) tableLines(now time.Time, height int) []string {
	l := m.style
	if !m.loaded {
		return []string{l.paint(faint, "reading the sessions …")}
	}
	title := fmt.Sprintf("%s · by %s", countOf(len(m.shown), len(m.sessions)), m.order)
	if m.reversed {
		title += ", reversed"
	}
	if m.words != "" && !m.typing {
		title += fmt.Sprintf(" · filter %q", m.words)
	}
	lines := []string{l.paint(strong, fit("ctxls · "+title, l.Width))}
	if m.err != nil {
		lines = append(lines, fit("the state cannot be read: "+safe(m.err.Error(), 0), l.Width))
	}
	lines = append(lines, "")
	if len(m.shown) == 0 {
		return append(lines, m.emptyLines()...)
	}
	const marker = 2 // cells before each row
	rows, of := sessionRows(m.shown, now, l, marker)
	selected := m.index()
	at, grid := 0, strings.Split(strings.TrimSuffix(l.grid(rows), "\n"), "\n")
	plain := strings.Split(Style{}.grid(rows), "\n")
	for i, line := range grid {
		switch {
		case i > 0 && of[i] == selected && of[i-1] != selected:
			at = i
			text := fit(plain[i], l.Width-marker)
			grid[i] = l.paint(chosen, "> "+text+strings.Repeat(" ", max(0, l.Width-marker-lipgloss.Width(text))))
		default:
			grid[i] = fit("  "+line, l.Width)
		}
	}
	head, rest, room := grid[0], grid[1:], max(height-len(lines)-1, 1)
	at--
	from := min(max(at-room/2, 0), max(len(rest)-room, 0))
	return append(append(lines, head), rest[from:min(from+room, len(rest))]...)
}

func countOf(shown, all int) string {
	if shown != all {
		return fmt.Sprintf("%d of %d sessions", shown, all)
	}
	return Count(all, "session")
}

// emptyLines says what to do if there is nothing to show.
func (m *live) emptyLines() []string {
	text := []string{"No sessions yet.", "", "A session appears with the first response of an agent. To connect yours:", "", "  ctxls setup", "", "Then start the agent. This screen shows it at once."}
	switch {
	case len(m.sessions) > 0:
		text = []string{"No session matches " + fmt.Sprintf("%q", m.words) + ".", "", "esc clears the filter."}
	case m.hidden:
		text = []string{"No session matches the flags of this command."}
		if f := m.filter; f.Host == "" && f.Project == "" && f.Since.IsZero() && f.Folders == nil {
			text[0] = "All sessions have ended."
		}
	}
	if len(m.sessions) == 0 && !m.filter.IncludeEnded {
		text = append(text, "", "a shows sessions that have ended.")
	}
	for i, line := range text {
		text[i] = fit(line, m.style.Width)
	}
	return text
}

// openLines draws the open session from its scroll position.
func (m *live) openLines(now time.Time, height int) []string {
	lines := strings.Split(strings.TrimRight(detailText(*m.open, now, m.style), "\n"), "\n")
	m.scroll = min(m.scroll, max(len(lines)-height, 0))
	return lines[m.scroll:]
}

func (m *live) helpLines() []string {
	text := m.style.paint(strong, "keys") + "\n\n"
	for _, k := range keysHelp {
		text += m.style.block(fmt.Sprintf("  %-12s", k[0]), k[1])
	}
	text += "\n" + m.style.block("figures: ", "~ estimate · ? unknown · LEFT tokens until the host compacts") +
		m.style.block("history: ", compactionMark+" the host compacted the conversation")
	return strings.Split(strings.TrimSuffix(m.style.clamp(text), "\n"), "\n")
}

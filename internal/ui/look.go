package ui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ctxls/ctxls/internal/core"
)

// Look says how something is drawn.
type Look struct {
	Width int  // of the screen in cells; 0 is not known, and then nothing is shortened
	Color bool // the caller decides, since only it knows what the output is
}

// The colours are the sixteen that a terminal's own theme chooses, so that they can be read on light and dark ones.
var (
	faint     = lipgloss.NewStyle().Faint(true)
	strong    = lipgloss.NewStyle().Bold(true)
	barStyle  = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	levelLook = map[core.Level]lipgloss.Style{
		core.LevelNormal:   lipgloss.NewStyle().Foreground(lipgloss.Green),
		core.LevelNotice:   lipgloss.NewStyle().Foreground(lipgloss.Yellow),
		core.LevelWarning:  lipgloss.NewStyle().Foreground(lipgloss.Yellow).Bold(true),
		core.LevelCritical: lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true),
	}
)

// levelStyle returns the style of a level; what is unknown is faint.
func levelStyle(level *core.Level) lipgloss.Style {
	if level == nil {
		return faint
	}
	return levelLook[*level]
}

// paint styles a text, where there are colours.
func (l Look) paint(style lipgloss.Style, text string) string {
	if !l.Color || strings.TrimSpace(text) == "" {
		return text
	}
	return style.Render(text)
}

// cell is one cell of a grid.
type cell struct {
	text  string
	style lipgloss.Style
	right bool // aligned
}

// grid writes rows of cells in aligned columns with two spaces between them. Cells are cut where they are wider than their
// column may be; limits names the widest that each column may be, 0 for any. Nothing trails a line.
func (l Look) grid(rows [][]cell, limits ...int) string {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], lipgloss.Width(c.text))
		}
	}
	for i := range min(len(limits), len(widths)) {
		if limits[i] > 0 {
			widths[i] = min(widths[i], limits[i])
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line, owed := "", 0 // spaces that only count once something follows them
		for i, c := range row {
			text := fit(c.text, widths[i])
			pad := widths[i] - lipgloss.Width(text)
			if c.right {
				owed += pad
			}
			if text != "" {
				line += strings.Repeat(" ", owed) + l.paint(c.style, text)
				owed = 0
			}
			if !c.right {
				owed += pad
			}
			owed += 2
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// clamp cuts every line of a text that may hold escape sequences to the screen.
func (l Look) clamp(text string) string {
	if l.Width == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = fit(line, l.Width)
	}
	return strings.Join(lines, "\n")
}

// fit cuts a text to a width in cells, marking that with an ellipsis.
func fit(text string, width int) string {
	cut := text
	// Where clusters of characters are cut apart, the whole may be wider than its parts were counted to be.
	for n := max(width, 0); n >= 0; n-- {
		if cut = ansi.Truncate(text, n, "…"); lipgloss.Width(cut) <= width {
			break
		}
	}
	return cut
}

// eighths are the parts of a block, from none to seven eighths.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// length draws a quantity as a bar, where most takes all the cells. What is not nothing can be seen.
func length(n, most, cells int) string {
	if n <= 0 || most <= 0 {
		return ""
	}
	parts := min(max((n*cells*8+most/2)/most, 1), cells*8)
	return strings.Repeat("█", parts/8) + eighths[parts%8]
}

package ui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ctxls/ctxls/internal/core"
)

// Style says how to draw.
type Style struct {
	Width int  // of the screen in cells; 0 is unknown, and nothing is shortened
	Color bool // the caller decides, since only it knows the output
}

// These are the sixteen colors of the terminal's own theme, so that they are readable on light and dark backgrounds.
var (
	faint       = lipgloss.NewStyle().Faint(true)
	strong      = lipgloss.NewStyle().Bold(true)
	barStyle    = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	levelStyles = map[core.Level]lipgloss.Style{
		core.LevelNormal:   lipgloss.NewStyle().Foreground(lipgloss.Green),
		core.LevelNotice:   lipgloss.NewStyle().Foreground(lipgloss.Yellow),
		core.LevelWarning:  lipgloss.NewStyle().Foreground(lipgloss.Yellow).Bold(true),
		core.LevelCritical: lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true),
	}
)

// levelStyle returns the style of a level; an unknown level is faint.
func levelStyle(level *core.Level) lipgloss.Style {
	if level == nil {
		return faint
	}
	return levelStyles[*level]
}

// paint styles a text, if there are colors.
func (l Style) paint(style lipgloss.Style, text string) string {
	if !l.Color || strings.TrimSpace(text) == "" {
		return text
	}
	return style.Render(text)
}

// cell is one cell of a grid.
type cell struct {
	text  string
	style lipgloss.Style
	right bool // aligned right
}

// grid writes rows of cells in aligned columns with two spaces between them. limits are the largest widths of the columns, 0 for no
// limit; wider cells are truncated. Lines have no trailing spaces.
func (l Style) grid(rows [][]cell, limits ...int) string {
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
		line, owed := "", 0 // owed spaces are written once a text follows
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

// clamp truncates every line of a text, which may contain escape sequences, to the width of the screen.
func (l Style) clamp(text string) string {
	if l.Width == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = fit(line, l.Width)
	}
	return strings.Join(lines, "\n")
}

// fit truncates a text to a width in cells, with an ellipsis.
func fit(text string, width int) string {
	fitted := text
	// A text whose character clusters are split may be wider than the sum of its parts.
	for n := max(width, 0); n >= 0; n-- {
		if fitted = ansi.Truncate(text, n, "…"); lipgloss.Width(fitted) <= width {
			break
		}
	}
	return fitted
}

// eighths are the parts of a block, from none to seven eighths.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// length draws n as a bar; most fills all cells. A bar above 0 is always visible.
func length(n, most, cells int) string {
	if n <= 0 || most <= 0 {
		return ""
	}
	parts := min(max((n*cells*8+most/2)/most, 1), cells*8)
	return strings.Repeat("█", parts/8) + eighths[parts%8]
}

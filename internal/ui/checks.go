package ui

import (
	"io"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ctxls/ctxls/internal/check"
	"github.com/ctxls/ctxls/internal/core"
)

// statusStyle returns how a status is drawn: a sign before it, with colors only, and a style.
func statusStyle(s check.Status) (sign string, style lipgloss.Style) {
	switch s {
	case check.OK:
		return "✓", levelStyles[core.LevelNormal]
	case check.Warn:
		return "!", levelStyles[core.LevelWarning]
	case check.Fail:
		return "✗", levelStyles[core.LevelCritical]
	}
	return "·", faint
}

// narrowestText is the smallest width of a check's text, in cells.
const narrowestText = 24

// Checks writes checks below their groups, in order. Texts are wrapped and never truncated, since they contain commands to type.
func Checks(w io.Writer, checks []check.Check, l Style) error {
	names := 0
	for _, c := range checks {
		names = max(names, lipgloss.Width(safe(c.Name, 0)))
	}
	var b strings.Builder
	group := ""
	for _, c := range checks {
		if c.Group != group {
			if group != "" {
				b.WriteByte('\n')
			}
			group = c.Group
			b.WriteString(l.paint(strong, safe(group, 0)) + "\n")
		}
		sign, style := statusStyle(c.Status)
		status := padded(string(c.Status), len(check.Warn))
		if l.Color {
			status = sign + " " + status
		}
		before := "  " + l.paint(style, status) + "  " + padded(safe(c.Name, 0), names) + "  "
		b.WriteString(l.block(before, safe(c.What, 0)))
		if c.Hint != "" {
			b.WriteString(l.block(strings.Repeat(" ", lipgloss.Width(before)), "→ "+safe(c.Hint, 0)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// block writes a prefix and a wrapped text, whose lines are aligned.
func (l Style) block(before, text string) string {
	indent := lipgloss.Width(before)
	if l.Width > 0 {
		text = ansi.Wrap(text, max(l.Width-indent, narrowestText), "")
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(before+strings.Join(lines, "\n"+strings.Repeat(" ", indent)), " ") + "\n"
}

func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(width-lipgloss.Width(s), 0))
}

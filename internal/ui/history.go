package ui

import (
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/ctxls/ctxls/internal/core/session"
)

// levels are the heights of a block, from none to a whole one.
var levels = []string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

const compactionMark = "▼"

// history draws how full a window was over time, in width by height cells. Below are a line with marks of the compactions, and a
// line with the times. If several samples share a column, it shows the highest.
func history(samples []session.Sample, now time.Time, l Style, width, height int) string {
	if len(samples) == 0 || width < 8 {
		return ""
	}
	first, last := samples[0].At, samples[len(samples)-1].At
	columns, marks, window := make([]int, width), make([]bool, width), 0
	for i := range columns {
		columns[i] = -1
	}
	column := func(at time.Time) int {
		if !last.After(first) {
			return width - 1
		}
		return min(max(int(float64(at.Sub(first))/float64(last.Sub(first))*float64(width-1)), 0), width-1)
	}
	for i, s := range samples {
		window = max(window, s.WindowTokens, s.Tokens)
		at := column(s.At)
		columns[at] = max(columns[at], s.Tokens)
		marks[at] = marks[at] || s.Kind == session.SampleCompaction
		for next := at + 1; i+1 < len(samples) && next < column(samples[i+1].At); next++ { // the figure holds until the next sample
			columns[next] = s.Tokens
		}
	}
	var b strings.Builder
	for row := height - 1; row >= 0; row-- {
		var line strings.Builder
		for _, n := range columns {
			eighths := 0
			if n > 0 {
				eighths = max(int(float64(n)/float64(window)*float64(height*8)+0.5), 1)
			}
			line.WriteString(levels[min(max(eighths-row*8, 0), 8)])
		}
		label := ""
		if row == height-1 {
			label = " " + tokens(window)
		} else if row == 0 {
			label = " 0"
		}
		b.WriteString(l.paint(barStyle, line.String()) + l.paint(faint, label) + "\n")
	}
	var line strings.Builder
	for _, marked := range marks {
		if marked {
			line.WriteString(compactionMark)
		} else {
			line.WriteString("─")
		}
	}
	b.WriteString(l.paint(faint, line.String()) + "\n")
	from, until := ago(now.Sub(first)), ago(now.Sub(last))
	gap := max(width-lipgloss.Width(from)-lipgloss.Width(until), 1)
	b.WriteString(l.paint(faint, from+strings.Repeat(" ", gap)+until) + "\n")
	return b.String()
}

package ui

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
)

// Report writes the figures over the last tasks and their distribution.
func Report(w io.Writer, r core.FleetReport, now time.Time, l Style) error {
	_, err := io.WriteString(w, reportText(r, now, l))
	return err
}

func reportText(r core.FleetReport, now time.Time, l Style) string {
	pair := func(name, value string) []cell { return []cell{{text: name, style: faint}, {text: value}} }
	rows := [][]cell{pair("tasks", strconv.Itoa(r.Tasks))}
	if r.WindowTasks > 0 {
		rows[0][1].text += " of the last " + digits(r.WindowTasks, true)
	}
	if r.Since != nil {
		rows[0][1].text += ", since " + ago(now.Sub(*r.Since))
	}
	known := func(n int) string { // without tasks nothing is known
		if r.Tasks == 0 {
			return unknown
		}
		return tokens(n)
	}
	rate := unknown
	if r.Tasks > 0 {
		rate = fmt.Sprintf("%.1f%%", r.P90ExceedanceRate*100)
	}
	rows = append(rows,
		pair("over "+tokens(r.ThresholdTokens), rate),
		pair("average", known(r.AverageTokens)),
		pair("p50 / p90 / p99", known(r.P50Tokens)+" / "+known(r.P90Tokens)+" / "+known(r.P99Tokens)),
		pair("largest", known(r.MaxTokens)),
		pair("trims", fmt.Sprintf("%d, saving %s", r.TrimOperations, tokens(r.TrimmedTokens))),
		pair("compactions", fmt.Sprintf("%d in %s", r.Compactions, countOf(r.Sessions, r.Sessions))))
	text := l.grid(rows)
	if len(r.Histogram) > 0 {
		text += "\n" + histogramText(r, l)
	}
	return l.clamp(text)
}

// histogramText draws a bar for each bin, with the share of tasks above the bin.
func histogramText(r core.FleetReport, l Style) string {
	most := 0
	for _, b := range r.Histogram {
		most = max(most, b.Tasks)
	}
	const beside = 14 + 2*4 + 5 + 5 + 16 // cells beside the bars: range, gaps, tasks, share, marks
	cells := widestBar
	if l.Width > 0 {
		cells = min(max(l.Width-beside, 5), widestBar)
	}
	rows := [][]cell{{{text: "TOKENS", style: faint}, {text: fmt.Sprintf("%-*s", cells, ""), style: faint}, {text: "TASKS", style: faint, right: true}, {text: "ABOVE", style: faint, right: true}}}
	for _, b := range r.Histogram {
		style := barStyle
		if b.UpTo > r.ThresholdTokens {
			style = levelStyles[core.LevelWarning]
		}
		above := fmt.Sprintf("%.0f%%", b.Rest*100)
		if b.Rest > 0 && b.Rest < 0.01 {
			above = "<1%"
		}
		rows = append(rows, []cell{{text: tokens(b.Above) + "–" + tokens(b.UpTo), right: true}, {text: length(b.Tasks, most, cells), style: style},
			{text: strconv.Itoa(b.Tasks), right: true}, {text: above, style: faint, right: true}, {text: marks(r, b), style: lipgloss.NewStyle().Bold(true)}})
	}
	return l.grid(rows)
}

// marks names the percentiles and the threshold in a bin.
func marks(r core.FleetReport, b fleet.Bin) string {
	var names []string
	for _, mark := range []struct {
		name string
		at   int
	}{{"p50", r.P50Tokens}, {"p90", r.P90Tokens}, {"p99", r.P99Tokens}, {"threshold", r.ThresholdTokens}} {
		if mark.at > b.Above && mark.at <= b.UpTo || mark.at == 0 && b.Above == 0 {
			names = append(names, mark.name)
		}
	}
	if names == nil {
		return ""
	}
	return "← " + strings.Join(names, ", ")
}

// ReportCSV writes a line for each task, the oldest first.
func ReportCSV(w io.Writer, r core.FleetReport) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"task", "tokens", "thresholdTokens", "exceeds"}) // Flush returns the error
	for i, n := range r.TaskTokens {
		_ = out.Write([]string{strconv.Itoa(i + 1), strconv.Itoa(n), strconv.Itoa(r.ThresholdTokens), strconv.FormatBool(n > r.ThresholdTokens)})
	}
	out.Flush()
	return out.Error()
}

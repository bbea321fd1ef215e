package ui

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
)

// TaskGroup is the figures of tasks that have something in common.
type TaskGroup struct {
	Name       string // empty is unknown
	Tasks      int
	Exceedance float64 // share of tasks above the threshold, 0–1
	Average    int     // tokens, as those below
	P50Tokens  int
	P90Tokens  int
	P99Tokens  int
	MaxTokens  int
}

// TaskGroups writes a table of groups of tasks. by names what they have in common.
func TaskGroups(w io.Writer, by string, groups []TaskGroup, threshold int, l Style) error {
	head := func(text string) cell { return cell{text: text, style: faint, right: true} }
	rows := [][]cell{{{text: strings.ToUpper(by), style: faint}, head("TASKS"), head("OVER " + tokens(threshold)), head("AVERAGE"), head("P50"), head("P90"), head("P99"), head("LARGEST")}}
	for _, g := range groups {
		row := []cell{{text: fit(orUnknown(safe(g.Name, 60)), 32)}, {text: strconv.Itoa(g.Tasks), right: true}, {text: fmt.Sprintf("%.1f%%", g.Exceedance*100), right: true}}
		for _, n := range []int{g.Average, g.P50Tokens, g.P90Tokens, g.P99Tokens, g.MaxTokens} {
			row = append(row, cell{text: tokens(n), right: true})
		}
		rows = append(rows, row)
	}
	_, err := io.WriteString(w, l.clamp(l.grid(rows)))
	return err
}

// AlertLine writes that too many tasks exceed the threshold.
func AlertLine(w io.Writer, alert fleet.Alert, l Style) error {
	text := fmt.Sprintf("alert: %.1f%% of %d tasks are over the threshold, more than %.0f%%", alert.Rate*100, alert.Tasks, alert.Threshold*100)
	_, err := io.WriteString(w, l.clamp(l.paint(levelStyles[core.LevelCritical], text)+"\n"))
	return err
}

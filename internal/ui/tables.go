package ui

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
)

// table writes rows of cells in aligned columns.
func table(w io.Writer, rows func(row func(cells ...string))) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	rows(func(cells ...string) { fmt.Fprintln(tw, strings.Join(cells, "\t")) })
	return tw.Flush()
}

func orUnknown(s string) string {
	if s == "" {
		return unknown
	}
	return s
}

// Windows writes the built-in table of windows and the learned windows.
func Windows(w io.Writer, rows []model.WindowRow, learned []session.LearnedWindow) error {
	return table(w, func(row func(...string)) {
		row("MODEL", "HOST", "PROVIDER", "WINDOW", "INPUT", "OUTPUT", "SOURCE")
		for _, r := range rows {
			row(r.Model, orAny(string(r.Host)), orAny(r.Provider), tokens(r.WindowTokens), orDash(r.InputTokens), orDash(r.OutputTokens), r.Source)
		}
		for _, l := range learned {
			row(safe(l.Model, 40), string(l.Host), orAny(safe(l.Provider, 24)), orDash(max(l.AcceptedTokens, l.StatedTokens)), "-", "-", "learned: "+safe(l.Why, 100))
		}
	})
}

// Window writes the window of one model.
func Window(w io.Writer, model string, win model.Window) error {
	return table(w, func(row func(...string)) {
		row("model", safe(model, 100))
		row("window", tokens(win.Tokens), safe(win.Why, 200))
		if win.InputTokens > 0 {
			row("input limit", tokens(win.InputTokens))
		}
		if win.CompactionTokens > 0 {
			row("compaction", tokens(win.CompactionTokens), fmt.Sprintf("%d%% of the window", text.Percent(win.CompactionTokens, win.Tokens)))
		} else {
			row("compaction", "never")
		}
	})
}

func orAny(s string) string {
	if s == "" {
		return "any"
	}
	return s
}

func orDash(n int) string {
	if n == 0 {
		return "-"
	}
	return tokens(n)
}

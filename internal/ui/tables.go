package ui

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

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

// LearnedWindows writes what was learned of windows, by which evidence and when, and until when it holds.
func LearnedWindows(w io.Writer, learned []session.LearnedWindow, now time.Time) error {
	if len(learned) == 0 {
		_, err := fmt.Fprintln(w, "nothing was learned of any window")
		return err
	}
	return table(w, func(row func(...string)) {
		row("MODEL", "HOST", "PROVIDER", "LEARNED", "SINCE", "HOLDS", "WHY")
		for _, l := range learned {
			holds := "expired"
			if left := l.Expires().Sub(now); left > 0 {
				holds = age(left)
			}
			row(safe(l.Model, 40), string(l.Host), orAny(safe(l.Provider, 24)), orDash(max(l.AcceptedTokens, l.StatedTokens)), age(now.Sub(l.At)), holds, safe(l.Why, 100))
		}
	})
}

// Window writes what is in force for one model.
func Window(w io.Writer, name string, win model.Window) error {
	return table(w, func(row func(...string)) {
		row("model", safe(name, 100))
		guess := ""
		if win.Guessed() {
			guess = "~"
		}
		row("window", guess+tokens(win.Tokens), safe(win.Why, 200))
		if win.InputTokens > 0 {
			row("input limit", tokens(win.InputTokens))
		}
		switch win.CompactionRule {
		case model.CompactsAt:
			row("compaction", guess+tokens(win.CompactionTokens), fmt.Sprintf("%d%% of the window", text.Percent(win.CompactionTokens, win.Tokens)))
		case model.CompactsOnRefusal:
			row("compaction", "when a request is refused as too long")
		case model.CompactsNever:
			row("compaction", "turned off", fmt.Sprintf("prompts are refused at %s", tokens(win.RefusalTokens)))
		default:
			row("compaction", unknown)
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

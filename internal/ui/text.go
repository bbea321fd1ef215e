package ui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
)

// unknown is shown for an unknown figure, never 0.
const unknown = "?"

// bar draws a share of 0–100 percent in the given number of cells.
func bar(percent *int, cells int) string {
	if percent == nil {
		return strings.Repeat("·", cells)
	}
	full := min((*percent*cells+50)/100, cells)
	return strings.Repeat("█", full) + strings.Repeat("░", cells-full)
}

// compactsHere marks in a gauge where the host compacts.
const compactsHere = "│"

// gauge draws how full a window is in the given number of cells, with a mark where the host compacts. A limit below that point
// leaves no place for the mark.
func gauge(u core.Usage, cells int) string {
	drawn := bar(u.Display.Percent, cells)
	if u.CompactionTokens == nil || *u.CompactionTokens <= 0 || cells == 0 || *u.CompactionTokens >= u.Display.LimitTokens {
		return drawn
	}
	all, at := []rune(drawn), *u.CompactionTokens*cells/u.Display.LimitTokens
	return string(all[:at]) + compactsHere + string(all[at+1:])
}

// tokens writes a number of tokens for people: 812, 9.4k, 144k, 1.05M.
func tokens(n int) string {
	switch {
	case n < 1_000:
		return fmt.Sprint(n)
	case n < 9_950:
		return fmt.Sprintf("%.1fk", float64(n)/1_000)
	case n < 999_500:
		return fmt.Sprintf("%dk", (n+500)/1_000)
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", float64(n)/1e6), "0"), ".") + "M"
}

func tokensOrUnknown(n *int) string {
	if n == nil {
		return unknown
	}
	return tokens(*n)
}

// percentText writes the share of the window, with "~" before an estimate.
func percentText(u core.Usage) string {
	if u.Display.Percent == nil {
		return unknown
	}
	return estimateMark(u) + fmt.Sprintf("%d%%", *u.Display.Percent)
}

func estimateMark(u core.Usage) string {
	if u.Provenance != nil && *u.Provenance == session.ProvenanceEstimate {
		return "~"
	}
	return ""
}

// leftText writes what is left until the host compacts, or until the window is full or a prompt is refused where it does not.
func leftText(u core.Usage) string {
	switch {
	case u.CompactionTokens != nil:
		return leftTokens(u) + " to compaction"
	case u.CompactionRule == model.CompactsOnRefusal:
		return leftTokens(u) + " left, compacts when refused"
	case u.CompactionRule == model.CompactsNever:
		return leftTokens(u) + " left, no auto-compaction"
	}
	return leftTokens(u) + " left"
}

// leftTokens writes how many tokens are left, with "~" where they hang on an estimate: hosts compare their own projection.
func leftTokens(u core.Usage) string {
	left := cmp.Or(u.ToCompaction, u.ToRefusal)
	mark := estimateMark(u)
	if u.Tokens != nil && u.ProjectedTokens != nil && *u.Tokens != *u.ProjectedTokens {
		mark = "~"
	}
	if left == nil {
		mark = ""
	}
	return mark + tokensOrUnknown(left)
}

// age writes a duration: now, 5m, 3h, 2d.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// safe sanitizes text from outside for one cell of a table.
func safe(s string, limit int) string { return strings.TrimSpace(text.Sanitize(s, limit)) }

// Tokens writes a number of tokens for people: 812, 9.4k, 144k, 1.05M.
func Tokens(n int) string { return tokens(n) }

// Count writes a number of things, such as "1 check" or "3,000 checks".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return text.Thousands(n) + " " + noun
}

// Ago writes how long ago something was: just now, 5m ago, 3h ago, 2d ago.
func Ago(d time.Duration) string { return ago(d) }

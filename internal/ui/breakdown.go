package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
)

// categoryNames are the names of the categories for users.
var categoryNames = map[session.Category]string{
	session.CategorySystem:    "system prompt, tools",
	session.CategoryUnknown:   "not accounted for",
	session.CategoryMemory:    "memory files",
	session.CategorySummary:   "summary",
	session.CategoryInjected:  "added by the host",
	session.CategoryUser:      "user",
	session.CategoryAssistant: "assistant",
	session.CategoryThinking:  "thinking",
	session.CategoryCalls:     "tool calls",
	session.CategoryResult:    "tool results",
	session.CategoryImage:     "images",
}

const (
	shownTools  = 12 // at most; the rest is summed up
	shownFiles  = 10
	nameWidth   = 24 // cells
	widestBar   = 40
	countsWidth = 2*2 + 7 + 4 // two gaps, a count and a percentage
)

// Breakdown writes what fills a session's window, as bars.
func Breakdown(w io.Writer, s core.SessionDetail, now time.Time, l Style) error {
	_, err := io.WriteString(w, breakdownText(s, now, l))
	return err
}

func breakdownText(s core.SessionDetail, now time.Time, l Style) string {
	var b strings.Builder
	u := s.Usage
	line := func(style lipgloss.Style, parts ...string) {
		text := strings.Join(parts, " · ")
		if l.Width > 0 {
			text = fit(text, l.Width)
		}
		b.WriteString(l.paint(style, text) + "\n")
	}
	line(strong, string(s.Host), orUnknown(projectOf(s.SessionView)), orUnknown(safe(s.Model, 40)), safe(s.SessionID, 40))
	line(levelStyle(u.Level), tokenPair(u)+" tokens", percentText(u), leftText(u))
	b.WriteString("\n" + partsAndFiles(s.Breakdown, now, l))
	return l.clamp(b.String())
}

// partsAndFiles draws a breakdown without the line about its session.
func partsAndFiles(bd *session.Breakdown, now time.Time, l Style) string {
	var b strings.Builder
	if bd == nil || bd.Tokens == nil {
		why := "not known"
		if bd != nil && bd.Why != "" {
			why = safe(bd.Why, 200)
		}
		return unknown + " (" + why + ")\n"
	}
	b.WriteString(partsText(bd.Parts, bd.Request, *bd.Tokens, l))
	if bd.Request != nil {
		b.WriteString(unusedText(bd.Request, l))
	}
	if t := bd.LastTurn; t != nil {
		fmt.Fprintf(&b, "\n%s\n%s", l.paint(strong, fmt.Sprintf("+~%s since the last turn began, %s", tokens(t.Tokens), ago(now.Sub(t.Since)))), partsText(t.Parts, nil, *bd.Tokens, l))
	}
	if len(bd.Files) > 0 {
		b.WriteString("\n" + l.paint(strong, "files") + "\n" + filesText(bd.Files, *bd.Tokens, l))
	}
	return b.String()
}

// barCells returns the width of bars beside names of a width.
func (l Style) barCells(name int) int {
	if l.Width == 0 {
		return widestBar
	}
	return min(max(l.Width-name-countsWidth, 0), widestBar)
}

// bars is a list of bars on one scale.
type bars struct {
	rows  [][]cell
	most  int // the value of a full bar
	whole int // the value of 100 %
	cells int
}

func (t *bars) add(name string, n int) {
	percent := fmt.Sprintf("%d%%", text.Percent(n, t.whole))
	if percent == "0%" {
		percent = "<1%"
	}
	t.rows = append(t.rows, []cell{{text: name}, {text: length(n, t.most, t.cells), style: barStyle}, {text: "~" + tokens(n), right: true}, {text: percent, style: faint, right: true}})
}

// partsText draws parts. Tool results are listed below their sum. The parts of a recorded request take the place of the share that they
// explain.
func partsText(parts []session.Part, request *session.RequestShare, whole int, l Style) string {
	sums, tools := map[session.Category]int{}, []session.Part{}
	for _, p := range parts {
		sums[p.Category] += p.Tokens
		if p.Category == session.CategoryResult {
			tools = append(tools, p)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	t := bars{whole: whole, cells: l.barCells(nameWidth)}
	for _, sum := range sums {
		t.most = max(t.most, sum)
	}
	for _, category := range session.Categories {
		switch {
		case sums[category] == 0:
		case request != nil && (category == session.CategorySystem || category == session.CategoryUnknown):
			rest := sums[category]
			for _, p := range request.Parts {
				if p.Tokens > 0 {
					t.add(safe(requestName(p), nameWidth), p.Tokens)
					rest -= p.Tokens
				}
			}
			if rest > 0 {
				t.add("not accounted for", rest)
			}
		default:
			t.add(categoryNames[category], sums[category])
		}
		if category != session.CategoryResult {
			continue
		}
		slices.SortStableFunc(tools, func(a, b session.Part) int { return b.Tokens - a.Tokens })
		rest := 0
		for i, tool := range tools {
			if i >= shownTools && len(tools) > shownTools+1 {
				rest += tool.Tokens
			} else {
				t.add("  "+orUnknown(safe(tool.Tool, nameWidth-2)), tool.Tokens)
			}
		}
		if rest > 0 {
			t.add(fmt.Sprintf("  %d more tools", len(tools)-shownTools), rest)
		}
	}
	t.rows[0][0].text += strings.Repeat(" ", max(0, nameWidth-lipgloss.Width(t.rows[0][0].text))) // aligns all lists of a screen
	return l.grid(padBars(t), nameWidth)
}

// requestName is the name of a part of a recorded request.
func requestName(p session.RequestPart) string {
	switch p.Kind {
	case session.RequestSystem:
		return "system prompt"
	case session.RequestTools:
		return "built-in tools"
	}
	return "tools of " + p.Server
}

// unusedText names the tools that a request holds and that were never called.
func unusedText(r *session.RequestShare, l Style) string {
	var b strings.Builder
	for _, p := range r.Parts {
		if p.UnusedTools == 0 {
			continue
		}
		var names []string
		for _, tool := range p.Unused[:min(len(p.Unused), shownTools)] {
			names = append(names, strings.TrimPrefix(safe(tool.Name, 80), "mcp__"+p.Server+"__"))
		}
		if more := p.UnusedTools - len(names); more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		fmt.Fprintf(&b, "  %d of %d %s, ~%s: %s\n", p.UnusedTools, p.Tools, requestName(p), tokens(p.UnusedTokens), strings.Join(names, ", "))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + l.paint(strong, "never called in this session") + "\n" + b.String()
}

// filesText draws files. It keeps the end of a long path.
func filesText(files []session.FilePart, whole int, l Style) string {
	files = files[:min(len(files), shownFiles)]
	name := nameWidth
	for _, f := range files {
		name = max(name, lipgloss.Width(safe(f.Path, 0)))
	}
	if l.Width > 0 {
		name = min(name, max(l.Width-countsWidth-12, nameWidth)) // bars of at least ten cells
	}
	t := bars{whole: whole, most: files[0].Tokens, cells: l.barCells(name)}
	for _, f := range files {
		t.add(fitEnd(orUnknown(safe(f.Path, 0)), name), f.Tokens)
	}
	return l.grid(padBars(t), name)
}

// padBars pads all bars to the same width, so that the lists of a screen are aligned.
func padBars(t bars) [][]cell {
	for _, row := range t.rows {
		row[1].text += strings.Repeat(" ", max(0, t.cells-len([]rune(row[1].text))))
	}
	return t.rows
}

// fitEnd truncates a text at its beginning.
func fitEnd(text string, width int) string {
	over := lipgloss.Width(text) - width
	if over <= 0 || width < 2 {
		return text
	}
	return ansi.TruncateLeft(text, over+1, "…")
}

func ago(d time.Duration) string {
	if a := age(d); a != "now" {
		return a + " ago"
	}
	return "just now"
}

package ui

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/text"
)

// defaultStatusline is the line without configuration. An unknown forecast is left out of it.
const defaultStatusline = "{bar} {percent} · {tokens}/{window} · {left} · {forecast} · {model}"

// maxStatusline bounds the line, in characters.
const maxStatusline = 500

// StatuslineOptions configures the line.
type StatuslineOptions struct {
	// Format is the line with the placeholders {bar}, {percent}, {tokens}, {window}, {left}, {cache}, {forecast}, {model} and {level}.
	// Its parts are separated by " · " or " | ". A part whose placeholders are all empty is left out. "" is the built-in format.
	Format string
	Width  int         // of the terminal in characters, 0 if unknown
	Color  bool        // color by level
	Cache  PromptCache // for {cache}
	Now    time.Time   // for {cache}
}

// importance orders the figures. If the line is too wide, the part whose most important figure is last in this list is left out first.
var importance = []string{"percent", "agent", "bar", "level", "tokens", "window", "left", "cache", "forecast", "model"}

// Statusline writes one line about a session. "~" marks an estimate, "+" a figure that is one response behind, and "?" an unknown
// figure. Parts are left out until the line fits.
func Statusline(s core.SessionView, o StatuslineOptions) string {
	values := usageValues(s.Usage, s.Model)
	values["cache"] = cacheText(o.Cache, s.Usage.WindowTokens, o.Now)
	format := o.Format
	if format == "" {
		format = defaultStatusline
		if s.Usage.TurnsLeft == nil {
			values["forecast"] = ""
		}
	}
	return line(format, values, s.Usage.Level, o)
}

// line fills a format, leaves parts out until the line fits, and paints it.
func line(format string, values map[string]string, level *core.Level, o StatuslineOptions) string {
	width := maxStatusline
	if o.Width > 0 {
		width = min(width, o.Width)
	}
	format = shorten(withoutEmpty(format, values), values, width)
	if fits(fill(format, values, nil), width) {
		return fill(format, values, paint(level, o.Color))
	}
	return safe(fill(format, values, nil), width)
}

// usageValues returns the values of the placeholders that show a usage.
func usageValues(u core.Usage, model string) map[string]string {
	percent, forecast, level := percentText(u), unknown, unknown
	if u.Stale {
		percent += "+"
	}
	if f := u.TurnsLeft; f != nil {
		forecast = nTurns(turnsText(f.Mid))
	}
	if u.Level != nil {
		level = string(*u.Level)
	}
	return map[string]string{
		"bar":      gauge(u, 10),
		"percent":  percent,
		"tokens":   estimateMark(u) + tokensOrUnknown(u.Display.Tokens),
		"window":   tokens(u.Display.LimitTokens),
		"left":     leftText(u),
		"forecast": forecast,
		"model":    orUnknown(safe(model, 40)),
		"level":    level,
	}
}

// shorten leaves parts out of a format, and at last the bar, until the line fits.
func shorten(format string, values map[string]string, width int) string {
	for !fits(fill(format, values, nil), width) {
		at := separators(format)
		if len(at) == 0 {
			return strings.TrimSpace(strings.ReplaceAll(format, "{bar}", ""))
		}
		least, worst := 0, -1
		for i, part := range parts(format) {
			if rank := rankOf(part); rank >= worst {
				least, worst = i, rank
			}
		}
		format = withoutPart(format, least)
	}
	return format
}

// withoutEmpty leaves the parts out whose placeholders are all empty.
func withoutEmpty(format string, values map[string]string) string {
	for i := len(parts(format)) - 1; i >= 0; i-- {
		part, empty := parts(format)[i], false
		for _, m := range placeholders(part) {
			value, known := values[part[m[0]+1:m[1]-1]]
			if empty = known && value == ""; !empty {
				break
			}
		}
		if empty {
			format = withoutPart(format, i)
		}
	}
	return format
}

// parts splits a format at its separators.
func parts(format string) (all []string) {
	start := 0
	for _, separator := range separators(format) {
		all = append(all, format[start:separator[0]])
		start = separator[1]
	}
	return append(all, format[start:])
}

// withoutPart removes a part of a format, with the separator before it; of the first part, the one after it.
func withoutPart(format string, i int) string {
	switch at := separators(format); {
	case len(at) == 0:
		return ""
	case i == 0:
		return format[at[0][1]:]
	case i == len(at):
		return format[:at[i-1][0]]
	default:
		return format[:at[i-1][0]] + format[at[i][0]:]
	}
}

// rankOf returns the rank of a part's most important figure; a part without figures has the last rank.
func rankOf(part string) int {
	rank := len(importance)
	for _, m := range placeholders(part) {
		if i := slices.Index(importance, part[m[0]+1:m[1]-1]); i >= 0 {
			rank = min(rank, i)
		}
	}
	return rank
}

// separators returns where each " · " and " | " of a format begins and ends.
func separators(format string) (at [][2]int) {
	for i := 0; i < len(format); i++ {
		for _, s := range []string{" · ", " | "} {
			if strings.HasPrefix(format[i:], s) {
				at = append(at, [2]int{i, i + len(s)})
				i += len(s) - 1
				break
			}
		}
	}
	return at
}

// placeholders returns where each {word} of a format begins and ends.
func placeholders(format string) (at [][2]int) {
	for i := 0; i < len(format); i++ {
		if format[i] != '{' {
			continue
		}
		end := i + 1
		for end < len(format) && 'a' <= format[end] && format[end] <= 'z' {
			end++
		}
		if end > i+1 && end < len(format) && format[end] == '}' {
			at = append(at, [2]int{i, end + 1})
			i = end
		}
	}
	return at
}

// fill replaces the placeholders of a format with painted values; nil paints nothing. Unknown placeholders stay.
func fill(format string, values map[string]string, painted func(name, value string) string) string {
	var b strings.Builder
	at := 0
	write := func(name, value string) {
		if painted != nil && value != "" {
			value = painted(name, value)
		}
		b.WriteString(value)
	}
	for _, m := range placeholders(format) {
		if value, known := values[format[m[0]+1:m[1]-1]]; known {
			write("", text.Sanitize(format[at:m[0]], 0))
			write(format[m[0]+1:m[1]-1], value)
			at = m[1]
		}
	}
	write("", text.Sanitize(format[at:], 0))
	return b.String()
}

func fits(line string, width int) bool { return utf8.RuneCountInString(line) <= width }

// paint returns how the values of a line are painted: the gauge by its level, the rest faint. The caller has decided whether to use
// colors, since hosts show them although they are no terminal.
func paint(level *core.Level, on bool) func(name, value string) string {
	if !on {
		return nil
	}
	return func(name, value string) string {
		style := faint
		switch {
		case name == "bar" || name == "percent" || name == "level":
			style = levelStyle(level)
		case strings.TrimSpace(value) == "" || name == "agent":
			return value
		}
		return style.Render(value)
	}
}

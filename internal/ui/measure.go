package ui

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Measured is one input and its size.
type Measured struct {
	File string `json:"file"` // "-" is standard input
	conversation.Measurement
	Record   bool `json:"-"` // a host's record of a session: the figures are what the provider reported
	Text     bool `json:"-"` // measured as plain text
	Messages int  `json:"-"`
}

// Measurements writes a row for each input, and a total if there are several. Tables by role and by message follow for the inputs that
// have them.
func Measurements(w io.Writer, inputs []Measured) error {
	windows := slices.ContainsFunc(inputs, func(m Measured) bool { return m.WindowTokens != nil })
	err := table(w, func(row func(...string)) {
		line := func(name, kind, tokens, window, threshold, encoding string) {
			if windows {
				row(name, kind, tokens, window, threshold, encoding)
			} else {
				row(name, kind, tokens, threshold, encoding)
			}
		}
		line("FILE", "CONTENT", "TOKENS", "WINDOW", "THRESHOLD", "ENCODING")
		total, exact := 0, true
		for _, m := range inputs {
			total, exact = total+m.Tokens, exact && m.Exact
			line(fileName(m), content(m), digits(m.Tokens, m.Exact), windowShare(m), threshold(m), m.Encoding)
		}
		if len(inputs) > 1 {
			line("total", fmt.Sprintf("%d files", len(inputs)), digits(total, exact), "", "", "")
		}
	})
	for _, m := range inputs {
		if err == nil && m.ByRole != nil {
			err = byRole(w, m)
		}
		if err == nil && m.ByMessage != nil {
			err = byMessage(w, m)
		}
	}
	return err
}

// byRole writes the tokens of each role, the largest first.
func byRole(w io.Writer, m Measured) error {
	roles := slices.SortedFunc(maps.Keys(m.ByRole), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.ByRole[b], m.ByRole[a]), cmp.Compare(a, b))
	})
	fmt.Fprintf(w, "\n%s by role\n", fileName(m))
	return table(w, func(row func(...string)) {
		for _, role := range roles {
			row(orUnknown(safe(role, 24)), digits(m.ByRole[role], m.Exact), share(m.ByRole[role], m.Tokens))
		}
	})
}

// byMessage writes the tokens of each message, numbered from 0.
func byMessage(w io.Writer, m Measured) error {
	fmt.Fprintf(w, "\n%s by message\n", fileName(m))
	return table(w, func(row func(...string)) {
		for i, tokens := range m.ByMessage {
			row(strconv.Itoa(i), role(m, i), digits(tokens, m.Exact), share(tokens, m.Tokens))
		}
	})
}

func role(m Measured, i int) string {
	if i >= len(m.Roles) {
		return orUnknown("")
	}
	return orUnknown(safe(m.Roles[i], 24))
}

func fileName(m Measured) string {
	if m.File == "-" {
		return "standard input"
	}
	return safe(m.File, 60)
}

func content(m Measured) string {
	if m.Record {
		return "record"
	}
	if m.Text {
		return "text"
	}
	return messages(m.Messages)
}

func windowShare(m Measured) string {
	if m.WindowTokens == nil {
		return unknown
	}
	return share(m.Tokens, *m.WindowTokens) + " of " + tokens(*m.WindowTokens)
}

func share(part, whole int) string {
	percent := text.Percent(part, whole)
	return fmt.Sprintf("%s %3d%%", bar(&percent, 10), percent)
}

func threshold(m Measured) string {
	if m.ExceedsThreshold {
		return "over " + tokens(m.ThresholdTokens)
	}
	return "within " + tokens(m.ThresholdTokens)
}

// digits writes a number in full, with commas between thousands and "~" before one that is not exact.
func digits(n int, exact bool) string {
	if !exact {
		return "~" + text.Thousands(n)
	}
	return text.Thousands(n)
}

// Trimmed writes one line about a trim. exact says whether its counts are exact.
func Trimmed(r conversation.TrimResult, exact bool) string {
	if len(r.Removed)+len(r.Cleared) == 0 {
		return fmt.Sprintf("nothing trimmed: %s %s", digits(r.Tokens, exact), map[bool]string{true: "token", false: "tokens"}[r.Tokens == 1])
	}
	var done []string
	if len(r.Removed) > 0 {
		done = append(done, messages(len(r.Removed))+" removed")
	}
	if len(r.Cleared) > 0 {
		done = append(done, "tool results cleared in "+messages(len(r.Cleared)))
	}
	return fmt.Sprintf("%s tokens trimmed to %s: %s", digits(r.OriginalTokens, exact), digits(r.Tokens, exact), strings.Join(done, ", "))
}

func messages(n int) string { return Count(n, "message") }

// Progress writes how many bytes of an input were read and counted. A total of 0 is unknown.
func Progress(done, total int64) string {
	if total == 0 {
		return "reading"
	}
	percent := text.Percent(int(done), int(total))
	return fmt.Sprintf("reading %s %3d%% of %.1f MB", bar(&percent, 20), percent, float64(total)/1e6)
}

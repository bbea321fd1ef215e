package settings

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxls/ctxls/internal/core/text"
)

// The bounds of a mark in tokens. Who writes a number below a thousand means a share, and forgot the sign.
const minTokens, maxTokens = 1_000, 1_000_000_000

// Mark is a place in a window: a share of it in percent, or a number of tokens. One of the two is above 0.
type Mark struct{ Percent, Tokens int }

// In returns where the mark is in a window, in tokens; of a share, the least number of tokens that reaches it.
func (m Mark) In(window int) int {
	if m.Tokens > 0 {
		return m.Tokens
	}
	return (m.Percent*window + 99) / 100
}

// ParseMark reads a mark: "85%", "300k", "1.2M" or "300000".
func ParseMark(s string) (m Mark, err error) {
	wrong := fmt.Errorf("%q: want a share like \"85%%\", or tokens like \"300k\"", s)
	number, percent := strings.CutSuffix(s, "%")
	if percent {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > 100 {
			return m, wrong
		}
		return Mark{Percent: n}, nil
	}
	n, ok := text.ParseTokens(s)
	if !ok || n < minTokens || n > maxTokens {
		return m, wrong
	}
	return Mark{Tokens: n}, nil
}

// checkMarks says what is wrong with the levels of a model; "" is nothing. Shares and tokens cannot be compared without a window.
func checkMarks(pattern string, marks []string) string {
	if strings.TrimSpace(pattern) == "" {
		return "an empty pattern: want a model id or a pattern with *"
	}
	last := Mark{}
	for _, s := range marks {
		m, err := ParseMark(s)
		if err != nil {
			return err.Error()
		}
		if m.Percent > 0 && m.Percent <= last.Percent || m.Tokens > 0 && m.Tokens <= last.Tokens {
			marks = nil
		}
		last = Mark{max(last.Percent, m.Percent), max(last.Tokens, m.Tokens)}
	}
	if len(marks) != 3 {
		return fmt.Sprintf("%q: want three rising marks, like [\"300k\",\"500k\",\"85%%\"]", pattern)
	}
	return ""
}

// Trigger is when an alert acts.
type Trigger struct {
	Name string // as it is written in the settings
	// Kind says which of the others counts: "level", "mark", "left", "compaction" or "fleet".
	Kind  string
	Level string // "notice", "warning" or "critical"
	Mark  Mark
	Left  int // tokens to the compaction
}

// ParseTrigger reads one element of AlertsConfig.At.
func ParseTrigger(s string) (Trigger, error) {
	t := Trigger{Name: s}
	switch s {
	case "notice", "warning", "critical":
		t.Kind, t.Level = "level", s
		return t, nil
	case "compaction", "fleet":
		t.Kind = s
		return t, nil
	}
	number, left := strings.CutSuffix(s, " left")
	m, err := ParseMark(number)
	switch {
	case err != nil || left && m.Tokens == 0:
		return t, fmt.Errorf(`%q: want "notice", "warning", "critical", a share like "85%%", tokens like "300k", "20k left", "compaction" or "fleet"`, s)
	case left:
		t.Kind, t.Left = "left", m.Tokens
	default:
		t.Kind, t.Mark = "mark", m
	}
	return t, nil
}

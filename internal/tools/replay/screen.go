package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// screen is where the log goes: a time, who, and what they did or said, wrapped below itself.
type screen struct {
	w      io.Writer
	width  int // in characters
	colour bool
}

// indent is how many characters the time and the name take.
const indent = 14

// Colours are SGR parameters of ECMA-48.
const (
	plain  = ""
	dim    = "2"
	bold   = "1"
	green  = "32"
	yellow = "33"
	red    = "31"
	cyan   = "36"
)

// print writes one line of the log. at is negative where the line belongs to the one before.
func (s *screen) print(at time.Duration, l line, colour string) {
	when := ""
	if at >= 0 {
		when = fmt.Sprintf("%d:%02d", int(at.Minutes()), int(at.Seconds())%60)
	}
	head := s.paint(dim, fmt.Sprintf("%5s", when)) + fmt.Sprintf("  %-7s", l.who)
	for text := range strings.SplitSeq(l.text, "\n") {
		for _, row := range wrap(text, s.width-indent) {
			fmt.Fprintln(s.w, head+s.paint(colour, row))
			head = strings.Repeat(" ", indent)
		}
	}
}

// paint colours a text, on terminals only.
func (s *screen) paint(colour, text string) string {
	if !s.colour || colour == plain {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// fit cuts a text to what one row has room for.
func (s *screen) fit(text string) string {
	if r := []rune(text); len(r) > s.width-indent {
		return string(r[:s.width-indent-1]) + "…"
	}
	return text
}

// wrap breaks a text at spaces into rows of at most width characters; rows that follow keep its indentation. A longer word
// has a row of its own.
func wrap(text string, width int) []string {
	if utf8.RuneCountInString(text) <= width {
		return []string{text}
	}
	lead := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var rows []string
	row := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case row == "":
			row = lead + word
		case utf8.RuneCountInString(row)+1+utf8.RuneCountInString(word) > width:
			rows, row = append(rows, row), lead+word
		default:
			row += " " + word
		}
	}
	return append(rows, row)
}

package config

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Problem is an error or a warning about the settings. Key and Message are safe to print in a terminal: text from a file
// is quoted and clipped.
type Problem struct {
	File    string // the file, or the name of the source; "" where Message names a variable of the environment
	Line    int    // 1-based; 0 where the problem is not in a text
	Column  int    // 1-based, in bytes; 0 with Line 0
	Key     string // dotted; empty if the problem has no key
	Message string // the error and the allowed values
	Warning bool   // the source is used anyway, without this key
}

// String returns the problem as one line, file:line:column: key: message, fit for a terminal.
func (p Problem) String() string {
	if p.File == "" {
		return p.Message
	}
	var b strings.Builder
	if strings.ContainsFunc(p.File, unprintable) {
		b.WriteString(strconv.Quote(p.File))
	} else {
		b.WriteString(p.File)
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Warning {
		b.WriteString("warning: ")
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// maxProblems limits the problems of one layer. Users read no more, and a hostile file could contain a hundred thousand,
// each with a line number to compute.
const maxProblems = 100

// report adds an error about key at offset. The layer will be ignored.
func (l *layer) report(offset int, key, format string, args ...any) {
	l.bad = true
	l.add(l.problem(offset, key, fmt.Sprintf(format, args...)))
}

// warn adds a warning about key, written at offset.
func (l *layer) warn(offset int, key, format string, args ...any) {
	p := l.problem(offset, key, fmt.Sprintf(format, args...))
	p.Warning = true
	l.add(p)
}

// add appends p if there is room.
func (l *layer) add(p Problem) {
	if len(l.problems) < maxProblems {
		l.problems = append(l.problems, p)
	}
}

// problem returns an error at an offset of the layer's text. An offset after the last token (in a truncated file) is
// moved to the end of that token.
func (l *layer) problem(offset int, key, message string) Problem {
	p := Problem{File: l.name, Key: key, Message: message}
	if l.text != nil {
		offset = max(0, min(offset, len(bytes.TrimRight(l.text, " \t\r\n"))))
		before := l.text[:offset]
		p.Line = 1 + bytes.Count(before, []byte("\n"))
		p.Column = offset - bytes.LastIndexByte(before, '\n')
	}
	return p
}

// place returns the line and the column of an offset.
func (l *layer) place(offset int) string {
	if l.text == nil {
		return "the first time"
	}
	return fmt.Sprintf("line %d", l.problem(offset, "", "").Line)
}

// offset returns the position of key, or of the closest enclosing key.
func (l *layer) offset(key string) int {
	for {
		if at, ok := l.offsets[key]; ok {
			return at
		}
		dot := strings.LastIndexByte(key, '.')
		if dot < 0 {
			return 0
		}
		key = key[:dot]
	}
}

// maxQuoted is the maximum number of bytes that a message repeats from a name or value.
const maxQuoted = 60

// clip shortens s to maxQuoted bytes at the border of a character.
func clip(s string) string {
	if len(s) <= maxQuoted {
		return s
	}
	cut := maxQuoted
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// printable returns s unchanged if it is safe to print, else quoted with escapes.
func printable(s string) string {
	s = clip(s)
	if s == "" || strings.ContainsFunc(s, unprintable) || strings.Contains(s, " ") {
		return strconv.Quote(s)
	}
	return s
}

// unprintable reports whether r could change the terminal or mislead the reader: control characters, marks of writing
// direction, and spaces other than the plain one.
func unprintable(r rune) bool { return !strconv.IsPrint(r) }

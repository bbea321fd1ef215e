package contextfiles

import (
	"strings"
	"unicode/utf8"
)

// Text returns the text of a file as the reader sees it; "" where it cannot be read.
func (r *Reader) Text(path string) string { return r.read(path).text }

// LineColumn returns the line of an offset in bytes and the column in units of UTF-16, both from 0.
func LineColumn(text string, offset int) (line, column int) {
	offset = min(max(offset, 0), len(text))
	line = strings.Count(text[:offset], "\n")
	return line, units(text[strings.LastIndexByte(text[:offset], '\n')+1 : offset])
}

// Offset returns the offset in bytes of a line and a column in units of UTF-16, both from 0. What lies behind the end of a line is at
// its end, and what lies behind the last line at the end of the text.
func Offset(text string, line, column int) int {
	at := 0
	for ; line > 0; line-- {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			return len(text)
		}
		at += next + 1
	}
	for column > 0 && at < len(text) && text[at] != '\n' && text[at] != '\r' {
		r, size := utf8.DecodeRuneInString(text[at:])
		if column -= runeUnits(r); column < 0 {
			break
		}
		at += size
	}
	return at
}

// units returns the length of a text in units of UTF-16.
func units(s string) (n int) {
	for _, r := range s {
		n += runeUnits(r)
	}
	return n
}

func runeUnits(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

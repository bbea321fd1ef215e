package jsonscan

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// maxDepth bounds how deeply JSON values may nest, as encoding/json does, so that no input exhausts the stack.
const maxDepth = 10_000

// SyntaxError is JSON that is not well formed, or is nested too deeply.
type SyntaxError struct {
	Offset int    // bytes into the document
	Want   string // what was expected there; empty where the value at Offset is one level too deep
}

func (e *SyntaxError) Error() string {
	if e.Want == "" {
		return fmt.Sprintf("nested deeper than %d levels at byte %d", maxDepth, e.Offset)
	}
	return fmt.Sprintf("not valid JSON at byte %d: expected %s", e.Offset, e.Want)
}

// The scanner: each function takes the index where something starts and returns the index after it, or a SyntaxError. It
// passes over almost all of a conversation several times, so it works on bytes and allocates nothing.

func skipSpace(doc []byte, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\n' || doc[i] == '\r' || doc[i] == '\t') {
		i++
	}
	return i
}

// skipValue returns the index after the value that starts at doc[i].
func skipValue(doc []byte, i, depth int, each func(name, val Value)) (int, error) {
	if i >= len(doc) {
		return i, &SyntaxError{i, "a value"}
	}
	switch c := doc[i]; {
	case c == '"':
		return skipString(doc, i)
	case c == '{' || c == '[':
		if depth == maxDepth {
			return i, &SyntaxError{Offset: i}
		}
		return skipContainer(doc, i, depth+1, each)
	case c == 't':
		return skipLiteral(doc, i, "true")
	case c == 'f':
		return skipLiteral(doc, i, "false")
	case c == 'n':
		return skipLiteral(doc, i, "null")
	case c == '-' || '0' <= c && c <= '9':
		return skipNumber(doc, i)
	}
	return i, &SyntaxError{i, "a value"}
}

func skipContainer(doc []byte, i, depth int, each func(name, val Value)) (int, error) {
	object := doc[i] == '{'
	closing := byte(']')
	if object {
		closing = '}'
	}
	i = skipSpace(doc, i+1)
	if i < len(doc) && doc[i] == closing {
		return i + 1, nil
	}
	var err error
	for {
		var name Value
		if object {
			if i >= len(doc) || doc[i] != '"' {
				return i, &SyntaxError{i, "a member name"}
			}
			name = Value{doc, i, i}
			if i, err = skipString(doc, i); err != nil {
				return i, err
			}
			name.Hi = i
			i = skipSpace(doc, i)
			if i >= len(doc) || doc[i] != ':' {
				return i, &SyntaxError{i, "a colon"}
			}
			i = skipSpace(doc, i+1)
		}
		lo := i
		if i, err = skipValue(doc, lo, depth, nil); err != nil {
			return i, err
		}
		if each != nil {
			each(name, Value{doc, lo, i})
		}
		i = skipSpace(doc, i)
		if i < len(doc) && doc[i] == closing {
			return i + 1, nil
		}
		if i >= len(doc) || doc[i] != ',' {
			return i, &SyntaxError{i, fmt.Sprintf("a comma or %q", closing)}
		}
		i = skipSpace(doc, i+1)
	}
}

func skipLiteral(doc []byte, i int, literal string) (int, error) {
	if end := i + len(literal); end <= len(doc) && string(doc[i:end]) == literal {
		return end, nil
	}
	return i, &SyntaxError{i, literal}
}

func skipNumber(doc []byte, i int) (int, error) {
	digits := func() bool {
		start := i
		for i < len(doc) && '0' <= doc[i] && doc[i] <= '9' {
			i++
		}
		return i > start
	}
	if doc[i] == '-' {
		i++
	}
	if i < len(doc) && doc[i] == '0' {
		i++
	} else if !digits() {
		return i, &SyntaxError{i, "a digit"}
	}
	if i < len(doc) && doc[i] == '.' {
		if i++; !digits() {
			return i, &SyntaxError{i, "a digit"}
		}
	}
	if i < len(doc) && (doc[i] == 'e' || doc[i] == 'E') {
		if i++; i < len(doc) && (doc[i] == '+' || doc[i] == '-') {
			i++
		}
		if !digits() {
			return i, &SyntaxError{i, "a digit"}
		}
	}
	return i, nil
}

// skipString returns the index after the string that starts at doc[i], which is a quote. Plain stretches are passed eight
// bytes at a time: almost all of a conversation is strings.
func skipString(doc []byte, i int) (int, error) {
	for i++; i < len(doc); {
		if i+8 <= len(doc) && doc[i] != '\\' { // escapes come in runs
			stop := special(binary.LittleEndian.Uint64(doc[i:]))
			if stop == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(stop) / 8
		}
		switch c := doc[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\':
			size := escapeLen(doc[i:])
			if size == 0 {
				return i, &SyntaxError{i, "an escape that JSON knows"}
			}
			i += size
		case c < ' ':
			return i, &SyntaxError{i, "no control character inside a string"}
		default:
			i++
		}
	}
	return len(doc), &SyntaxError{len(doc), "the end of a string"}
}

// special marks, in the top bit of each byte of w, the quotes, backslashes and control characters. The lowest mark is
// always right; a higher one may be false, as the subtraction borrows.
func special(w uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & tops
}

// escapeLen returns the length of the escape that s starts with, 0 where there is none.
func escapeLen(s []byte) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(s) < 6 {
			return 0
		}
		for _, c := range s[2:6] {
			if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
				return 0
			}
		}
		return 6
	}
	return 0
}

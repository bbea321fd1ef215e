package core

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds how deeply JSON values may nest, as encoding/json does, so that no input exhausts the stack.
const maxDepth = 10_000

// value is one JSON value where it stands in its document: doc[lo:hi] without white space around it. The zero value stands
// for a member that is not there.
//
// Conversations are long, their messages must come out byte for byte as they came in, and most of them are known from the
// last time. So nothing is decoded into maps: one strict pass finds where each message ends, and only messages that are new
// are looked into, member by member.
type value struct {
	doc    []byte
	lo, hi int
}

// syntaxError is JSON that is not well formed.
type syntaxError struct {
	offset int // bytes into the document
	want   string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("not valid JSON at byte %d: expected %s", e.offset, e.want)
}

// parse checks doc against the grammar of JSON and returns its value. Strings may hold lone surrogates and invalid UTF-8.
// The values directly inside an array or object are given to each on the way, where it is not nil.
func parse(doc []byte, each func(value)) (value, error) {
	lo := skipSpace(doc, 0)
	hi, err := skipValue(doc, lo, 0, each)
	if err != nil {
		return value{}, err
	}
	if end := skipSpace(doc, hi); end != len(doc) {
		return value{}, &syntaxError{end, "nothing after the value"}
	}
	return value{doc, lo, hi}, nil
}

// raw returns the bytes of the value.
func (v value) raw() []byte { return v.doc[v.lo:v.hi] }

// present reports whether the value is there and not null.
func (v value) present() bool { return v.doc != nil && v.doc[v.lo] != 'n' }

func (v value) isObject() bool { return v.doc != nil && v.doc[v.lo] == '{' }
func (v value) isArray() bool  { return v.doc != nil && v.doc[v.lo] == '[' }
func (v value) isString() bool { return v.doc != nil && v.doc[v.lo] == '"' }

// kind names the value's type for people.
func (v value) kind() string {
	if v.doc == nil {
		return "nothing"
	}
	switch v.doc[v.lo] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// members iterates over the members of an object, and over nothing for any other value.
func (v value) members() iter.Seq2[[]byte, value] {
	return func(yield func([]byte, value) bool) {
		if !v.isObject() {
			return
		}
		for i := skipSpace(v.doc, v.lo+1); v.doc[i] != '}'; {
			keyEnd, _ := skipString(v.doc, i)
			key := v.doc[i+1 : keyEnd-1]
			if bytes.IndexByte(key, '\\') >= 0 {
				key = unescape(nil, key, 0)
			}
			i = skipSpace(v.doc, keyEnd)
			i = skipSpace(v.doc, i+1) // the colon
			end, _ := skipValue(v.doc, i, 0, nil)
			if !yield(key, value{v.doc, i, end}) {
				return
			}
			if i = skipSpace(v.doc, end); v.doc[i] == ',' {
				i = skipSpace(v.doc, i+1)
			}
		}
	}
}

// elements iterates over the elements of an array, and over nothing for any other value.
func (v value) elements() iter.Seq2[int, value] {
	return func(yield func(int, value) bool) {
		if !v.isArray() {
			return
		}
		i := skipSpace(v.doc, v.lo+1)
		for n := 0; v.doc[i] != ']'; n++ {
			end, _ := skipValue(v.doc, i, 0, nil)
			if !yield(n, value{v.doc, i, end}) {
				return
			}
			if i = skipSpace(v.doc, end); v.doc[i] == ',' {
				i = skipSpace(v.doc, i+1)
			}
		}
	}
}

// member returns the last member of an object with the given name: the one that counts for every common reader.
func (v value) member(name string) value {
	var found value
	for key, val := range v.members() {
		if string(key) == name {
			found = val
		}
	}
	return found
}

// text returns what a string stands for, "" for any other value. A lone surrogate becomes U+FFFD, invalid UTF-8 stays.
func (v value) text() string {
	if !v.isString() {
		return ""
	}
	inside := v.doc[v.lo+1 : v.hi-1]
	if i := bytes.IndexByte(inside, '\\'); i >= 0 {
		return string(unescape(make([]byte, 0, len(inside)), inside, i))
	}
	return string(inside)
}

// unescape appends to dst what the inside of a string stands for. The first plain bytes are known to hold no escape.
func unescape(dst, s []byte, plain int) []byte {
	dst = append(dst, s[:plain]...)
	for i := plain; i < len(s); {
		next := bytes.IndexByte(s[i:], '\\')
		if next < 0 {
			return append(dst, s[i:]...)
		}
		dst = append(dst, s[i:i+next]...)
		r, size := escaped(s[i+next:])
		dst = utf8.AppendRune(dst, r)
		i += next + size
	}
	return dst
}

// escaped decodes the escape that s starts with and returns its length, two escapes where they form a surrogate pair.
func escaped(s []byte) (r rune, size int) {
	switch s[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := hex4(s[2:])
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
			if pair := utf16.DecodeRune(r, hex4(s[8:])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, 6
	}
	return rune(s[1]), 2
}

func hex4(s []byte) rune {
	n, _ := strconv.ParseUint(string(s[:4]), 16, 16)
	return rune(n)
}

// compact appends the value as JSON text without white space and with no more escapes than JSON needs: the form in which
// arguments reach a model, whatever wrote the input.
func (v value) compact(dst []byte) []byte {
	s := v.raw()
	inString := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case !inString && (c == ' ' || c == '\n' || c == '\r' || c == '\t'):
		case c == '"':
			inString = !inString
			dst = append(dst, c)
		case c == '\\':
			r, size := escaped(s[i:])
			if r < ' ' || r == '"' || r == '\\' {
				dst = append(dst, s[i:i+size]...)
			} else {
				dst = utf8.AppendRune(dst, r)
			}
			i += size - 1
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func skipSpace(doc []byte, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\n' || doc[i] == '\r' || doc[i] == '\t') {
		i++
	}
	return i
}

// skipValue returns the index after the value that starts at doc[i].
func skipValue(doc []byte, i, depth int, each func(value)) (int, error) {
	if i >= len(doc) {
		return i, &syntaxError{i, "a value"}
	}
	switch c := doc[i]; {
	case c == '"':
		return skipString(doc, i)
	case c == '{' || c == '[':
		if depth == maxDepth {
			return i, &syntaxError{i, fmt.Sprintf("at most %d levels of nesting", maxDepth)}
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
	return i, &syntaxError{i, "a value"}
}

func skipContainer(doc []byte, i, depth int, each func(value)) (int, error) {
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
		if object {
			if i >= len(doc) || doc[i] != '"' {
				return i, &syntaxError{i, "a member name"}
			}
			if i, err = skipString(doc, i); err != nil {
				return i, err
			}
			i = skipSpace(doc, i)
			if i >= len(doc) || doc[i] != ':' {
				return i, &syntaxError{i, "a colon"}
			}
			i = skipSpace(doc, i+1)
		}
		lo := i
		if i, err = skipValue(doc, lo, depth, nil); err != nil {
			return i, err
		}
		if each != nil {
			each(value{doc, lo, i})
		}
		i = skipSpace(doc, i)
		if i < len(doc) && doc[i] == closing {
			return i + 1, nil
		}
		if i >= len(doc) || doc[i] != ',' {
			return i, &syntaxError{i, fmt.Sprintf("a comma or %q", closing)}
		}
		i = skipSpace(doc, i+1)
	}
}

func skipLiteral(doc []byte, i int, literal string) (int, error) {
	if end := i + len(literal); end <= len(doc) && string(doc[i:end]) == literal {
		return end, nil
	}
	return i, &syntaxError{i, literal}
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
		return i, &syntaxError{i, "a digit"}
	}
	if i < len(doc) && doc[i] == '.' {
		if i++; !digits() {
			return i, &syntaxError{i, "a digit"}
		}
	}
	if i < len(doc) && (doc[i] == 'e' || doc[i] == 'E') {
		if i++; i < len(doc) && (doc[i] == '+' || doc[i] == '-') {
			i++
		}
		if !digits() {
			return i, &syntaxError{i, "a digit"}
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
				return i, &syntaxError{i, "an escape that JSON knows"}
			}
			i += size
		case c < ' ':
			return i, &syntaxError{i, "no control character inside a string"}
		default:
			i++
		}
	}
	return len(doc), &syntaxError{len(doc), "the end of a string"}
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

package core

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

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
func (v value) isTrue() bool   { return v.doc != nil && v.doc[v.lo] == 't' }

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
		for name, val := range v.pairs() {
			key := name.inside()
			if bytes.IndexByte(key, '\\') >= 0 {
				key = []byte(unescape(key))
			}
			if !yield(key, val) {
				return
			}
		}
	}
}

// pairs iterates over the members of an object as they are written.
func (v value) pairs() iter.Seq2[value, value] {
	return func(yield func(name, val value) bool) {
		if !v.isObject() {
			return
		}
		for i := skipSpace(v.doc, v.lo+1); v.doc[i] != '}'; {
			name := value{v.doc, i, passString(v.doc, i)}
			i = skipSpace(v.doc, name.hi)
			i = skipSpace(v.doc, i+1) // the colon
			end := passValue(v.doc, i)
			if !yield(name, value{v.doc, i, end}) {
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
			end := passValue(v.doc, i)
			if !yield(n, value{v.doc, i, end}) {
				return
			}
			if i = skipSpace(v.doc, end); v.doc[i] == ',' {
				i = skipSpace(v.doc, i+1)
			}
		}
	}
}

// field asks pick for a member.
type field struct {
	name string
	to   *value
}

// pick finds members of an object in one pass. Where a name stands twice the last one counts, as for every common reader.
func (v value) pick(fields ...field) {
	for key, val := range v.members() {
		for _, f := range fields {
			if string(key) == f.name {
				*f.to = val
			}
		}
	}
}

// member returns one member of an object.
func (v value) member(name string) (found value) {
	v.pick(field{name, &found})
	return found
}

// inside returns the bytes between the quotes of a string, nil for any other value.
func (v value) inside() []byte {
	if !v.isString() {
		return nil
	}
	return v.doc[v.lo+1 : v.hi-1]
}

// text returns what a string stands for, "" for any other value. A lone surrogate becomes U+FFFD, invalid UTF-8 stays.
func (v value) text() string {
	return unescape(v.inside())
}

// plain returns what a string stands for as bytes, nil for any other value: those of the document, where nothing is escaped.
func (v value) plain() []byte {
	s := v.inside()
	if bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	return []byte(unescape(s))
}

// unescape returns what the inside of a string stands for.
func unescape(s []byte) string {
	next := bytes.IndexByte(s, '\\')
	if next < 0 {
		return string(s)
	}
	var text strings.Builder
	text.Grow(len(s))
	for ; next >= 0; next = bytes.IndexByte(s, '\\') {
		text.Write(s[:next])
		r, size := escaped(s[next:])
		text.WriteRune(r)
		s = s[next+size:]
	}
	text.Write(s)
	return text.String()
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

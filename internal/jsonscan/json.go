package jsonscan

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Value is one JSON value inside its document: Doc[Lo:Hi], without white space around it. The zero Value stands for a member that
// does not exist.
//
// Conversations are long, their messages must come out byte for byte as they came in, and most of them are known from the
// last time. So nothing is decoded into maps: one strict pass finds where each message ends, and only messages that are new
// are looked into, member by member.
type Value struct {
	Doc    []byte
	Lo, Hi int
}

// Parse checks doc against the grammar of JSON and returns its value. Strings may hold lone surrogates and invalid UTF-8.
// If each is not nil, it is called with the values directly inside an array or
// object, and with the names of members as they are written.
func Parse(doc []byte, each func(name, val Value)) (Value, error) {
	lo := skipSpace(doc, 0)
	hi, err := skipValue(doc, lo, 0, each)
	if err != nil {
		return Value{}, err
	}
	if end := skipSpace(doc, hi); end != len(doc) {
		return Value{}, &SyntaxError{end, "nothing after the value"}
	}
	return Value{doc, lo, hi}, nil
}

// Raw returns the bytes of the value, nil for a member that is not there.
func (v Value) Raw() []byte { return v.Doc[v.Lo:v.Hi] }

// Present reports whether the value exists and is not null.
func (v Value) Present() bool { return v.Doc != nil && v.Doc[v.Lo] != 'n' }

func (v Value) IsObject() bool { return v.Doc != nil && v.Doc[v.Lo] == '{' }
func (v Value) IsArray() bool  { return v.Doc != nil && v.Doc[v.Lo] == '[' }
func (v Value) IsString() bool { return v.Doc != nil && v.Doc[v.Lo] == '"' }
func (v Value) IsTrue() bool   { return v.Doc != nil && v.Doc[v.Lo] == 't' }

// Kind returns the name of the value's type for messages.
func (v Value) Kind() string {
	if v.Doc == nil {
		return "nothing"
	}
	switch v.Doc[v.Lo] {
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
func (v Value) members() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		for name, val := range v.pairs() {
			key := name.Inside()
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
func (v Value) pairs() iter.Seq2[Value, Value] {
	return func(yield func(name, val Value) bool) {
		if !v.IsObject() {
			return
		}
		for i := skipSpace(v.Doc, v.Lo+1); v.Doc[i] != '}'; {
			name := Value{v.Doc, i, stepOverString(v.Doc, i)}
			i = skipSpace(v.Doc, name.Hi)
			i = skipSpace(v.Doc, i+1) // the colon
			end := stepOverValue(v.Doc, i)
			if !yield(name, Value{v.Doc, i, end}) {
				return
			}
			if i = skipSpace(v.Doc, end); v.Doc[i] == ',' {
				i = skipSpace(v.Doc, i+1)
			}
		}
	}
}

// Elements iterates over the elements of an array, and over nothing for any other value.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if !v.IsArray() {
			return
		}
		i := skipSpace(v.Doc, v.Lo+1)
		for n := 0; v.Doc[i] != ']'; n++ {
			end := stepOverValue(v.Doc, i)
			if !yield(n, Value{v.Doc, i, end}) {
				return
			}
			if i = skipSpace(v.Doc, end); v.Doc[i] == ',' {
				i = skipSpace(v.Doc, i+1)
			}
		}
	}
}

// field is a member that Pick looks for.
type field struct {
	name string
	to   *Value
}

// Into returns the field of a name.
func Into(name string, to *Value) field { return field{name, to} }

// Pick finds members of an object in one pass. If a name occurs twice, the last one counts, as in every common parser.
func (v Value) Pick(fields ...field) {
	for key, val := range v.members() {
		for _, f := range fields {
			if string(key) == f.name {
				*f.to = val
			}
		}
	}
}

// Member returns one member of an object.
func (v Value) Member(name string) (found Value) {
	v.Pick(Into(name, &found))
	return found
}

// Inside returns the bytes between the quotes of a string, nil for any other value.
func (v Value) Inside() []byte {
	if !v.IsString() {
		return nil
	}
	return v.Doc[v.Lo+1 : v.Hi-1]
}

// Text returns the decoded string, "" for any other value. A lone surrogate becomes U+FFFD, invalid UTF-8 stays.
func (v Value) Text() string {
	return unescape(v.Inside())
}

// Plain returns the decoded string as bytes, nil for any other value. Without escapes, the bytes are those of the document.
func (v Value) Plain() []byte {
	s := v.Inside()
	if bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	return []byte(unescape(s))
}

// unescape decodes the inside of a string.
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

// Compact appends the value as JSON text without white space and with no more escapes than JSON needs: the form in which
// arguments reach a model, whatever wrote the input.
func (v Value) Compact(dst []byte) []byte {
	s := v.Raw()
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

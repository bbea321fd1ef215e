package jsonscan

import (
	"bytes"
	"iter"
)

// What follows walks JSON that was found to be well formed, so it only has to find where values end. Strings, which are most
// of what agents send, are crossed from quote to quote. (Payloads and transcripts are walked unchecked, by hook/transcript.)

// CheckJSON returns what is wrong with doc, which should be one JSON value, nil where nothing is. Strings may hold lone
// surrogates and invalid UTF-8, as agents really write them, objects the same name twice, and values nest 10,000 deep.
func Check(doc []byte) error {
	_, err := Parse(doc, nil)
	return err
}

// JSONMembers yields the names, as they are written and with their quotes, and the values of an object, which must be well
// formed. Any other value has none.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, val []byte) bool) {
		for name, val := range Whole(object).pairs() {
			if !yield(name.Raw(), val.Raw()) {
				return
			}
		}
	}
}

// JSONElements yields the elements of an array, which must be well formed. Any other value has none.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, element := range Whole(array).Elements() {
			if !yield(element.Raw()) {
				return
			}
		}
	}
}

// whole returns the value of a document that is well formed.
func Whole(doc []byte) Value {
	lo, hi := skipSpace(doc, 0), len(bytes.TrimRight(doc, " \t\r\n"))
	if lo >= hi {
		return Value{}
	}
	return Value{doc, lo, hi}
}

// passValue returns the index behind the value that starts at i.
func passValue(doc []byte, i int) int {
	for depth := 0; i < len(doc); {
		switch doc[i] {
		case '"':
			i = passString(doc, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
			continue
		default: // a number or a word
			for i++; i < len(doc) && bytes.IndexByte([]byte(",:]} \t\r\n"), doc[i]) < 0; i++ {
			}
		}
		if depth == 0 {
			break
		}
	}
	return i
}

// passString returns the index behind the string whose quote is at i.
func passString(doc []byte, i int) int {
	for i++; ; i++ {
		quote := bytes.IndexByte(doc[i:], '"')
		if quote < 0 {
			return len(doc)
		}
		i += quote
		escapes := 0
		for doc[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

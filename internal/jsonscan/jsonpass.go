package jsonscan

import (
	"bytes"
	"iter"
)

// Check returns what is wrong with doc, which should be one JSON value, and nil if it is one. Strings may hold lone surrogates and
// invalid UTF-8, as agents write them. Objects may hold the same name twice. Values may nest 10,000 deep.
func Check(doc []byte) error {
	_, err := Parse(doc, nil)
	return err
}

// Members yields the members of an object that is well formed: the names as they are written, with their quotes, and the values.
// Any other value has no members.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, val []byte) bool) {
		for name, val := range Whole(object).pairs() {
			if !yield(name.Raw(), val.Raw()) {
				return
			}
		}
	}
}

// Elements yields the elements of an array that is well formed. Any other value has no elements.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, element := range Whole(array).Elements() {
			if !yield(element.Raw()) {
				return
			}
		}
	}
}

// Whole returns the value of a document that is well formed.
func Whole(doc []byte) Value {
	lo, hi := skipSpace(doc, 0), len(bytes.TrimRight(doc, " \t\r\n"))
	if lo >= hi {
		return Value{}
	}
	return Value{doc, lo, hi}
}

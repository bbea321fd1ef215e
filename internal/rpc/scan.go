package rpc

import (
	"bytes"
	"iter"
)

// What follows walks JSON that is known to be valid, so it only has to find where values end. Strings, which are most of
// what agents send, are crossed from quote to quote.

// members yields the names, with their quotes, and values of object as slices of it.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := skipBlanks(object, skipBlanks(object, 0)+1)
		for i < len(object) && object[i] == '"' {
			nameEnd := skipString(object, i)
			start := skipBlanks(object, skipBlanks(object, nameEnd)+1)
			end := skipValue(object, start)
			if !yield(object[i:nameEnd], object[start:end]) {
				return
			}
			i = skipBlanks(object, skipBlanks(object, end)+1)
		}
	}
}

// elements yields the elements of array as slices of it.
func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := skipBlanks(array, skipBlanks(array, 0)+1)
		for i < len(array) && array[i] != ']' {
			end := skipValue(array, i)
			if !yield(array[i:end]) {
				return
			}
			i = skipBlanks(array, skipBlanks(array, end)+1)
		}
	}
}

// skipValue returns the index behind the value that starts at i.
func skipValue(json []byte, i int) int {
	depth := 0
	for i < len(json) {
		switch json[i] {
		case '"':
			i = skipString(json, i)
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
		default:
			for i++; i < len(json) && bytes.IndexByte([]byte(",:]} \t\r\n"), json[i]) < 0; i++ {
			}
		}
		if depth == 0 {
			break
		}
	}
	return i
}

// skipString returns the index behind the string whose quote is at i.
func skipString(json []byte, i int) int {
	for i++; ; i++ {
		quote := bytes.IndexByte(json[i:], '"')
		if quote < 0 {
			return len(json)
		}
		i += quote
		escapes := 0
		for json[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

func skipBlanks(json []byte, i int) int {
	for i < len(json) && (json[i] == ' ' || json[i] == '\t' || json[i] == '\r' || json[i] == '\n') {
		i++
	}
	return i
}

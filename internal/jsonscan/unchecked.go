package jsonscan

import (
	"bytes"
	"encoding/json"
)

// The unchecked mode. A hook has no time to check a whole payload, and the last line of a transcript may be half written. Both may
// hold megabytes of tool output around a few small members. So this mode skips values without decoding, copying or checking them: it
// knows that a value is balanced, not that it is valid. Check and Parse are for documents that must be valid. Once they found a
// document well formed, the other functions skip its values in this mode, too.

// WalkMembers calls visit with the members of an object in order, until visit returns false: the key as it stands between its
// quotes, escapes included, and the raw value. It returns false when data is not an object, or ends before visit has seen enough.
func WalkMembers(data []byte, visit func(key, value []byte) bool) bool {
	return walk(data, '{', '}', visit)
}

// WalkElements is WalkMembers for the elements of an array.
func WalkElements(data []byte, visit func(value []byte) bool) bool {
	return walk(data, '[', ']', func(_, value []byte) bool { return visit(value) })
}

func walk(data []byte, open, end byte, visit func(key, value []byte) bool) bool {
	i := skipSpace(data, 0)
	if i == len(data) || data[i] != open {
		return false
	}
	if i = skipSpace(data, i+1); i < len(data) && data[i] == end {
		return skipSpace(data, i+1) == len(data)
	}
	for i < len(data) {
		var key []byte
		if open == '{' {
			after := stepOverString(data, i)
			if after < 0 {
				return false
			}
			key = data[i+1 : after-1]
			if i = skipSpace(data, after); i == len(data) || data[i] != ':' {
				return false
			}
			i = skipSpace(data, i+1)
		}
		after := stepOverValue(data, i)
		if after < 0 || !bracketed[data[i]] && !isScalar(data[i:after]) {
			return false
		}
		if !visit(key, data[i:after]) {
			return true
		}
		if i = skipSpace(data, after); i == len(data) {
			return false
		}
		switch data[i] {
		case ',':
			i = skipSpace(data, i+1)
		case end:
			return skipSpace(data, i+1) == len(data)
		default:
			return false
		}
	}
	return false
}

// bracketed marks the first bytes of values whose end shows itself; the others are words and numbers.
var bracketed = [256]bool{'"': true, '{': true, '[': true}

// isScalar reports whether value is a number, true, false or null. Nearly all of them are decided here, without the checker of a whole
// document.
func isScalar(value []byte) bool {
	switch string(value) {
	case "true", "false", "null":
		return true
	}
	return IsCount(value) || json.Valid(value)
}

// IsCount reports whether value is a JSON number of at most nine digits and nothing else: a whole number that fits into 32 bits.
func IsCount(value []byte) bool {
	if len(value) == 0 || len(value) > 9 || value[0] == '0' && len(value) > 1 {
		return false
	}
	for _, c := range value {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// stepOverString returns the index after the string that starts at i, or -1.
func stepOverString(data []byte, i int) int {
	if i >= len(data) || data[i] != '"' {
		return -1
	}
	for i++; ; {
		quote := bytes.IndexByte(data[i:], '"')
		if quote < 0 {
			return -1
		}
		quote += i
		backslashes := 0
		for quote-backslashes > i && data[quote-backslashes-1] == '\\' {
			backslashes++
		}
		if i = quote + 1; backslashes%2 == 0 {
			return i
		}
	}
}

// structural marks the bytes at which stepOverValue has to look.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// stepOverValue returns the index after the value that starts at i, or -1.
func stepOverValue(data []byte, i int) int {
	if i >= len(data) {
		return -1
	}
	switch data[i] {
	case '"':
		return stepOverString(data, i)
	case '{', '[':
	default: // a number, true, false or null, or an error
		for i < len(data) && bytes.IndexByte([]byte(",]} \n\r\t"), data[i]) < 0 {
			i++
		}
		return i
	}
	for depth := 0; i < len(data); {
		if !structural[data[i]] {
			i++
			continue
		}
		switch data[i] {
		case '"':
			if i = stepOverString(data, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		default:
			depth--
		}
		if i++; depth == 0 {
			return i
		}
	}
	return -1
}

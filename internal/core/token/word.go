package token

import (
	"encoding/binary"
	"math/bits"

	"github.com/ctxls/ctxls/internal/core/token/internal/vocab"
)

// The functions here find the ends of ASCII pieces as those of split.go do, eight
// bytes at a time. Sets of bytes within a word of eight are words that have the
// high bit of each such byte set, the first byte lowest.

const (
	ones     = 0x0101010101010101
	highBits = 0x80 * ones
	lowBits  = 0x7f * ones
	caseBits = 0x20 * ones
)

// atLeast has the high bit of each byte set that is at least c, in a word of bytes
// below 0x80: adding carries into it.
func atLeast(low uint64, c byte) uint64 { return low + uint64(0x80-c)*ones }

// nonLetters are the bytes that are no ASCII letter.
func nonLetters(word uint64) uint64 {
	low := (word | caseBits) & lowBits
	return (^atLeast(low, 'a') | atLeast(low, 'z'+1) | word) & highBits
}

func digits(low uint64) uint64 {
	return atLeast(low, '0') &^ atLeast(low, '9'+1) & highBits
}

// spaces are ASCII white space: U+0020 and \t, \n, \v, \f, \r, which are neighbours.
func spaces(low uint64) uint64 {
	return (atLeast(low, ' ')&^atLeast(low, ' '+1) | atLeast(low, '\t')&^atLeast(low, '\r'+1)) & highBits
}

func newlines(low uint64) uint64 {
	return (atLeast(low, '\n')&^atLeast(low, '\n'+1) | atLeast(low, '\r')&^atLeast(low, '\r'+1)) & highBits
}

// first is the index of the first byte of a set that is not empty.
func first(set uint64) int { return bits.TrailingZeros64(set) >> 3 }

// camelStop are the bytes where a run of capitals, then of small letters, from the
// first byte on may end; stop are the bytes that are no letters. If opener is the
// first byte's high bit, that byte goes for either.
func camelStop(word, stop, opener uint64) uint64 {
	notUpper := (stop | word&caseBits<<2) &^ opener
	notLower := (stop | ^word&caseBits<<2) &^ opener
	return notLower &^ (notUpper&-notUpper - 1) // from the end of the capitals on
}

// longWord is the length of the word at p, which word does not see the end of, or
// 0 if it takes pieceEnd to tell. For opener see camelStop.
func (r *run) longWord(p int, word, opener uint64) int {
	b := r.text
	lower := word&caseBits<<2&^opener != 0 // past the capitals
	for q := p + 8; q+8 <= len(b); q += 8 {
		word := binary.LittleEndian.Uint64(b[q:])
		stop := nonLetters(word)
		switch {
		case !r.camelCase:
		case lower:
			stop |= ^word & caseBits << 2
		default:
			lower = word&caseBits != 0
			stop = camelStop(word, stop, 0)
		}
		if stop == 0 {
			continue
		}
		end := q + first(stop)
		if b[end] >= 0x80 || b[end] == '\'' && r.camelCase {
			return 0
		}
		return end - p
	}
	return 0
}

// noWord is the length of the piece that begins with word and is none of letters,
// or 0 if it takes pieceEnd to tell.
func (r *run) noWord(word uint64) int {
	low, high := word&lowBits, word&highBits
	switch k := kinds[byte(word)]; k {
	case digit:
		n := min(first(^digits(low)&highBits|high|1<<31), 3)
		if n < 3 && high>>(8*uint(n))&0x80 != 0 {
			return 0
		}
		return n
	case blank, newline:
		return blankLen(low, high)
	case space:
		if next := kinds[byte(word>>8)]; next != punct && next != quote {
			return blankLen(low, high)
		}
	case quote:
		if !r.camelCase && kinds[byte(word>>8)] == letter {
			return 0 // a contraction, or it opens a word
		}
	case punct:
	default:
		return 0
	}
	// Punctuation, perhaps after a space, and the line ends after it.
	stop := (^nonLetters(word)&highBits | digits(low) | spaces(low) | high) &^ 0x80
	if stop == 0 {
		return 0
	}
	n := first(stop)
	if byte(word>>(8*uint(n-1))) == 0 {
		return 0 // NUL: see vocab.Table.Short
	}
	for lines := newlines(low) &^ high; lines>>(8*uint(n))&0x80 != 0; {
		if n++; n == 8 || r.camelCase && byte(word>>(8*uint(n))) == '/' {
			return 0
		}
	}
	if high>>(8*uint(n))&0x80 != 0 {
		return 0
	}
	return n
}

// blankLen is the length of the piece of white space that a word begins with, as
// spaceEnd has it, or 0 if it takes that to tell.
func blankLen(low, high uint64) int {
	stop := ^spaces(low)&highBits | high
	if stop == 0 {
		return 0
	}
	n := first(stop)
	if high>>(8*uint(n))&0x80 != 0 {
		return 0
	}
	if lines := newlines(low) & vocab.Mask(n); lines != 0 {
		return 8 - bits.LeadingZeros64(lines)>>3
	}
	return max(n-1, 1)
}

// kind sorts bytes by what a piece that begins with them can be.
type kind uint8

const (
	space   kind = iota // U+0020
	blank               // other ASCII white space but line ends
	punct               // ASCII that is none of the others
	quote               // '
	newline             // \r, \n
	digit
	letter
	beyond // part of a character beyond ASCII
)

var kinds = func() (kinds [256]kind) {
	for c := range kinds {
		switch {
		case c >= 0x80:
			kinds[c] = beyond
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			kinds[c] = letter
		case '0' <= c && c <= '9':
			kinds[c] = digit
		case c == ' ':
			kinds[c] = space
		case c == '\'':
			kinds[c] = quote
		case c == '\r' || c == '\n':
			kinds[c] = newline
		case c == '\t' || c == '\v' || c == '\f':
			kinds[c] = blank
		default:
			kinds[c] = punct
		}
	}
	return kinds
}()

package token

import (
	"encoding/binary"

	"github.com/ctxls/ctxls/internal/core/token/internal/class"
)

// Before any merging, both encodings cut a text into pieces (roughly words with
// the space before them, numbers, punctuation, white space) by a regular
// expression. The functions here are those expressions written out by hand. Text
// is valid UTF-8 throughout.
//
// cl100k_base:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//	 ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// o200k_base:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|
//	\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+

// The o200k_base pattern's two halves of a word overlap in the characters
// without case.
const (
	caseless  = class.OtherLetter | class.Mark
	upperHalf = class.Upper | caseless
	lowerHalf = class.Lower | caseless
	notPunct  = class.Space | class.Letter | class.Number
)

// pieceEnd is where the piece that starts at b[p] ends.
func (e *Encoding) pieceEnd(b []byte, p int) int {
	r, n := decode(b, p)
	c, q := class.Of(r), p+n

	if e.camelCase {
		if end := camelWord(b, p, q, c); end > 0 {
			return end + contraction(b, end)
		}
	} else {
		if n := contraction(b, p); n > 0 {
			return p + n
		}
		if c&class.Letter != 0 {
			return runEnd(b, q, class.Letter)
		}
		if c&(class.Number|class.Newline) == 0 {
			if end := runEnd(b, q, class.Letter); end > q {
				return end
			}
		}
	}

	switch {
	case c&class.Number != 0:
		for range 2 {
			if q == len(b) {
				break
			}
			r, n := decode(b, q)
			if class.Of(r)&class.Number == 0 {
				break
			}
			q += n
		}
		return q
	case c&class.Space == 0:
		return e.punctEnd(b, p)
	case r == ' ':
		if end := e.punctEnd(b, q); end > q {
			return end
		}
	}
	return spaceEnd(b, p)
}

// punctEnd is the end of [^\s\p{L}\p{N}]+ and the line ends after it, or p if
// there is no such character at p.
func (e *Encoding) punctEnd(b []byte, p int) int {
	q := p
	for q < len(b) {
		r, n := decode(b, q)
		if class.Of(r)&notPunct != 0 {
			break
		}
		q = repeatEnd(b, q, q+n)
	}
	if q > p {
		for q < len(b) && (b[q] == '\n' || b[q] == '\r' || e.camelCase && b[q] == '/') {
			q++
		}
	}
	return q
}

// spaceEnd is the end of \s*[\r\n]+|\s+(?!\S)|\s+ at a space: after the last
// line end of the white space if it has one; else before its last character,
// which the next piece may begin with, unless nothing follows or it is alone.
func spaceEnd(b []byte, p int) int {
	q, last, newline := p, p, 0
	for q < len(b) {
		r, n := decode(b, q)
		c := class.Of(r)
		if c&class.Space == 0 {
			break
		}
		q = repeatEnd(b, q, q+n)
		last = q - n
		if c&class.Newline != 0 {
			newline = q
		}
	}
	switch {
	case newline > 0:
		return newline
	case q == len(b) || last == p:
		return q
	}
	return last
}

// camelWord is the end of the o200k_base pattern's word at p, without a
// contraction, or 0. The first character has class c and ends at q.
func camelWord(b []byte, p, q int, c class.Class) int {
	// The alternatives in their order: the one that ends in lower case, first
	// with the optional character before the word, then without.
	opener := c&(class.Letter|class.Number|class.Newline) == 0
	inWord := c&(upperHalf|lowerHalf) != 0
	var upperQ, upperP int
	if opener {
		var end int
		if end, upperQ = lowerWord(b, q); end > 0 {
			return end
		}
	}
	if inWord {
		var end int
		if end, upperP = lowerWord(b, p); end > 0 {
			return end
		}
	}
	if upperQ > q {
		return upperQ
	}
	if upperP > p {
		return upperP
	}
	return 0
}

// lowerWord is the end of [upperHalf]*[lowerHalf]+ at p, or 0, and the end of
// [upperHalf]* alone.
func lowerWord(b []byte, p int) (end, upper int) {
	upper = p
	for upper < len(b) {
		r, n := decode(b, upper)
		c := class.Of(r)
		if c&upperHalf == 0 {
			if c&class.Lower != 0 {
				return runEnd(b, upper, lowerHalf), upper
			}
			break
		}
		upper = repeatEnd(b, upper, upper+n)
		if c&caseless != 0 {
			end = upper // the expression may give back all that follows this one
		}
	}
	return end, upper
}

// runEnd is the end of the longest run of characters of the given classes at p.
func runEnd(b []byte, p int, of class.Class) int {
	for p < len(b) {
		r, n := decode(b, p)
		if class.Of(r)&of == 0 {
			break
		}
		p = repeatEnd(b, p, p+n)
	}
	return p
}

// repeatEnd skips repetitions of the character b[p:q] and gives the end of those that
// it skips: all but a few, and none where fewer than 8 bytes repeat.
func repeatEnd(b []byte, p, q int) int {
	if q+8 > len(b) || binary.LittleEndian.Uint64(b[p:]) != binary.LittleEndian.Uint64(b[q:]) {
		return q
	}
	return repeatsEnd(b, p, q)
}

// repeatsEnd is repeatEnd where there are some.
func repeatsEnd(b []byte, p, q int) int {
	n := q - p
	for q+8 <= len(b) && binary.LittleEndian.Uint64(b[q-n:]) == binary.LittleEndian.Uint64(b[q:]) {
		q += 8 - 8%n
	}
	return q
}

// contraction is the length of (?i:'s|'t|'re|'ve|'m|'ll|'d) at p, or 0. Only ASCII
// letters are folded here. In tiktoken U+017F is an s, too, but no token has it
// beside another letter: whether a piece ends there changes no token.
func contraction(b []byte, p int) int {
	if p+1 >= len(b) || b[p] != '\'' {
		return 0
	}
	switch b[p+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if p+2 < len(b) && b[p+2]|0x20 == 'e' {
			return 3
		}
	case 'l':
		if p+2 < len(b) && b[p+2]|0x20 == 'l' {
			return 3
		}
	}
	return 0
}

// decode is utf8.DecodeRune for text known to be valid.
func decode(b []byte, p int) (r rune, size int) {
	c := b[p]
	switch {
	case c < 0x80:
		return rune(c), 1
	case c < 0xe0:
		return rune(c&0x1f)<<6 | rune(b[p+1]&0x3f), 2
	case c < 0xf0:
		return rune(c&0x0f)<<12 | rune(b[p+1]&0x3f)<<6 | rune(b[p+2]&0x3f), 3
	}
	return rune(c&0x07)<<18 | rune(b[p+1]&0x3f)<<12 | rune(b[p+2]&0x3f)<<6 | rune(b[p+3]&0x3f), 4
}

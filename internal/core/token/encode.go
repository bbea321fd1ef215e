package token

import (
	"encoding/binary"
	"math/bits"

	"github.com/ctxls/ctxls/internal/core/token/internal/vocab"
)

// run is one pass over one text.
type run struct {
	*Encoding
	text    []byte
	wantIDs bool
	ids     []uint32 // the ids so far, if wanted
	n       int      // the tokens so far
	scratch *scratch // nil until a piece is no token
}

// encode runs through the text piece by piece. Nearly all pieces of nearly all
// texts are ASCII and a token as they stand; the loop reads such a piece as one
// integer, finds its end by arithmetic on all eight bytes at once, and looks that
// integer up. Everything else goes the long way through pieceEnd.
func (r *run) encode() {
	b, t := r.text, &r.table
	p := 0
	for p+8 <= len(b) {
		word := binary.LittleEndian.Uint64(b[p:])
		n := 0 // length of the piece, or 0 if not decided here
		stop := nonLetters(word)
		opener := stop & 0x80 // set if the first byte is no letter
		if opener == 0 || stop&0x8000 == 0 && kinds[byte(word)] <= r.openers {
			if r.camelCase {
				stop = camelStop(word, stop, opener)
			} else {
				stop ^= opener
			}
			if stop != 0 {
				n = bits.TrailingZeros64(stop) >> 3
				next := byte(word >> (8 * uint(n)))
				if next >= 0x80 || next == '\'' && r.camelCase {
					n = 0
				}
			} else if n = r.longWord(p, word, opener); n > 8 {
				r.piece(p, p+n)
				p += n
				continue
			}
		} else {
			n = r.noWord(word)
		}
		if n == 0 {
			n = r.pieceEnd(b, p) - p
			r.piece(p, p+n)
			p += n
			continue
		}
		slot, ok := t.Short(word & vocab.Mask(n))
		if ok && (n < 8 || t.ShortValue(slot).IsToken()) {
			r.n++
			if r.wantIDs {
				r.ids = append(r.ids, t.ShortValue(slot).ID())
			}
		} else {
			r.merge(p, p+n)
		}
		p += n
	}
	for p < len(b) {
		end := r.pieceEnd(b, p)
		r.piece(p, end)
		p = end
	}
	r.free()
}

// piece encodes text[p:end].
func (r *run) piece(p, end int) {
	v := r.table.Find(r.text, p, end)
	if !v.IsToken() {
		r.merge(p, end)
		return
	}
	r.n++
	if r.wantIDs {
		r.ids = append(r.ids, v.ID())
	}
}

const (
	lowBits  = 0x7f7f7f7f7f7f7f7f
	highBits = 0x8080808080808080
	caseBits = 0x2020202020202020
	ones     = 0x0101010101010101
)

// nonLetters has the high bit of each byte set that is not an ASCII letter. It
// adds to each byte what carries into the high bit from 'a' on, and from 'z'+1 on.
func nonLetters(word uint64) uint64 {
	low := (word | caseBits) & lowBits
	return (^(low + (0x80-'a')*ones) | (low + (0x80-'z'-1)*ones) | word) & highBits
}

// camelStop is where capitals and then small letters end, as nonLetters has it,
// in a word whose first byte counts as either if opener is its high bit.
func camelStop(word, stop, opener uint64) uint64 {
	notUpper := (stop | word&caseBits<<2) &^ opener
	notLower := (stop | ^word&caseBits<<2) &^ opener
	return notLower &^ (notUpper&-notUpper - 1)
}

// longWord is the length of the word at p whose first eight bytes are all of it, or 0.
func (r *run) longWord(p int, word, opener uint64) int {
	b := r.text
	lower := word&caseBits<<2&^opener != 0 // among small letters already
	for q := p + 8; q+8 <= len(b); q += 8 {
		word := binary.LittleEndian.Uint64(b[q:])
		stop := nonLetters(word)
		if r.camelCase {
			if lower {
				stop |= ^word & caseBits << 2
			} else {
				lower = word&caseBits<<2 != 0
				stop = camelStop(word, stop, 0)
			}
		}
		if stop != 0 {
			end := q + bits.TrailingZeros64(stop)>>3
			if b[end] >= 0x80 || b[end] == '\'' && r.camelCase {
				return 0
			}
			return end - p
		}
	}
	return 0
}

// kind sorts bytes.
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
		k := punct
		switch {
		case c >= 0x80:
			k = beyond
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			k = letter
		case '0' <= c && c <= '9':
			k = digit
		case c == ' ':
			k = space
		case c == '\'':
			k = quote
		case c == '\r' || c == '\n':
			k = newline
		case c == '\t' || c == '\v' || c == '\f':
			k = blank
		}
		kinds[c] = k
	}
	return kinds
}()

// from has the high bit of each byte set that is at least c, for a word of bytes
// below 0x80.
func from(low uint64, c byte) uint64 { return low + uint64(0x80-c)*ones }

func digits(low uint64) uint64 { return from(low, '0') &^ from(low, '9'+1) }

func newlines(low uint64) uint64 {
	return from(low, '\n')&^from(low, '\n'+1) | from(low, '\r')&^from(low, '\r'+1)
}

func blanks(low uint64) uint64 {
	return from(low, '\t')&^from(low, '\r'+1) | from(low, ' ')&^from(low, ' '+1)
}

// noWord is the length of a piece that is no word, from its first eight bytes, or
// 0 if they do not decide it.
func (r *run) noWord(word uint64) int {
	low := word & lowBits
	high := word & highBits
	var n int
	switch k := kinds[byte(word)]; k {
	case digit:
		stop := ^digits(low)&highBits | high
		n = bits.TrailingZeros64(stop|1<<31) >> 3
	case quote:
		if !r.camelCase && kinds[byte(word>>8)] == letter {
			return 0
		}
		fallthrough
	case punct, space:
		if k == space {
			if kk := kinds[byte(word>>8)]; kk != punct && kk != quote {
				return blankLen(low, high)
			}
		}
		stop := (^nonLetters(word)&highBits | digits(low)&highBits | blanks(low)&highBits | high) &^ 0x80
		if stop == 0 {
			return 0
		}
		n = bits.TrailingZeros64(stop) >> 3
		if byte(word>>(8*uint(n-1))) == 0 {
			return 0
		}
		for kinds[byte(word>>(8*uint(n)))] == newline {
			if n++; n == 8 {
				return 0
			}
			if r.camelCase && byte(word>>(8*uint(n))) == '/' {
				return 0
			}
		}
	case blank, newline:
		return blankLen(low, high)
	default:
		return 0
	}
	if word>>(8*uint(n))&0x80 != 0 {
		return 0
	}
	return n
}

func blankLen(low, high uint64) int {
	stop := ^blanks(low)&highBits | high
	if stop == 0 {
		return 0
	}
	n := bits.TrailingZeros64(stop) >> 3
	if high>>(8*uint(n))&0x80 != 0 {
		return 0
	}
	if lines := newlines(low) & highBits & vocab.Mask(n); lines != 0 {
		return 8 - bits.LeadingZeros64(lines)>>3
	}
	if n > 1 {
		n--
	}
	return n
}

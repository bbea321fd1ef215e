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
		stop := nonLetters(word)
		opener := stop & 0x80 // set if the first byte is no letter
		var n int
		if opener == 0 || stop&0x8000 == 0 && r.opens(byte(word)) {
			if r.camelCase {
				stop = camelStop(word, stop, opener)
			} else {
				stop ^= opener
			}
			if stop == 0 {
				end := r.longWord(p, word, opener)
				r.piece(p, end)
				p = end
				continue
			}
			n = bits.TrailingZeros64(stop) >> 3
			next := byte(word >> (8 * uint(n)))
			if next >= 0x80 || next == '\'' && r.camelCase {
				end := r.pieceEnd(b, p)
				r.piece(p, end)
				p = end
				continue
			}
		} else if n = r.shortEnd(b, p); n == 0 || n > 8 || b[p+n-1] == 0 {
			end := r.pieceEnd(b, p)
			r.piece(p, end)
			p = end
			continue
		}
		slot, ok := t.Short(word & vocab.Mask(n))
		if !ok || n == 8 && !t.ShortValue(slot).IsToken() {
			r.merge(p, p+n)
		} else {
			r.n++
			if r.wantIDs {
				r.ids = append(r.ids, t.ShortValue(slot).ID())
			}
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

// opens reports whether an ASCII byte that is no letter may open a word.
func (r *run) opens(c byte) bool {
	switch k := kinds[c]; k {
	case space, blank, punct:
		return c != '\'' || r.camelCase
	}
	return false
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

// longWord is the end of the word at p whose first eight bytes are all of it.
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
				break
			}
			return end
		}
	}
	return r.pieceEnd(b, p)
}

// kind sorts bytes for shortEnd.
type kind uint8

const (
	letter  kind = iota
	punct        // ASCII that is none of the others
	space        // U+0020
	blank        // other ASCII white space but line ends
	newline      // \r, \n
	digit
	beyond // part of a character beyond ASCII
)

var kinds = [256]kind{}

func init() {
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
		case c == '\r' || c == '\n':
			k = newline
		case c == '\t' || c == '\v' || c == '\f':
			k = blank
		}
		kinds[c] = k
	}
}

// shortEnd is the length of the piece at p, which is not a word, or 0 where ASCII
// does not decide it or the text is about to end.
func (r *run) shortEnd(b []byte, p int) int {
	q := p
	switch kinds[b[p]] {
	case digit:
		for q++; q < p+3; q++ {
			if k := kinds[b[q]]; k != digit {
				if k == beyond {
					return 0
				}
				break
			}
		}
		return q - p
	case punct:
		if b[p] == '\'' && !r.camelCase && kinds[b[p+1]] == letter {
			return contraction(b, p) // or else it opens a word
		}
	case space:
		if kinds[b[p+1]] != punct {
			return r.blankEnd(b, p)
		}
		q++
	case blank, newline:
		return r.blankEnd(b, p)
	default:
		return 0
	}
	for q < len(b) && kinds[b[q]] == punct {
		q++
	}
	if q == len(b) || kinds[b[q]] == beyond {
		return 0
	}
	for q < len(b) && (kinds[b[q]] == newline || b[q] == '/' && r.camelCase) {
		q++
	}
	return q - p
}

func (r *run) blankEnd(b []byte, p int) int {
	q, line := p, 0
	for q < len(b) {
		k := kinds[b[q]]
		if k != space && k != blank && k != newline {
			break
		}
		q++
		if k == newline {
			line = q
		}
	}
	switch {
	case q == len(b) || kinds[b[q]] == beyond:
		return 0
	case line > 0:
		return line - p
	case q > p+1:
		return q - 1 - p
	}
	return 1
}

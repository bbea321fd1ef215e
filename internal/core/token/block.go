package token

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// The functions here cut text into the pieces that pieceEnd gives, 64 bytes at a
// time. A set of bytes in a block is an integer of 64 bits, the first byte lowest;
// what a regular expression says of neighbours is said by shifting such sets. A
// character beyond ASCII is in a set with all its bytes.

// block is 64 bytes of text and the 16 after them, so that a word that begins in
// the 64 can be read as two integers.
type block [80]byte

// sets are the bytes of a block by what the patterns ask of them. A byte beyond
// ASCII may be in any of the others.
type sets struct {
	beyond         uint64 // part of a character beyond ASCII
	letter, upper  uint64
	digit          uint64
	space, newline uint64 // white space; \r and \n of it
	blank          uint64 // U+0020
	quote, slash   uint64 // ' and /
	lead           uint64 // bit 6 of the byte: of those beyond ASCII, the first of a character
}

const (
	ones     = 0x0101010101010101
	highBits = 0x80 * ones
	lowBits  = 0x7f * ones
	caseBits = 0x20 * ones
)

// atLeast has the high bit of each byte set that is at least c, in a word of bytes
// below 0x80: adding carries into it.
func atLeast(low uint64, c byte) uint64 { return low + uint64(0x80-c)*ones }

// equal is atLeast for the bytes that are c.
func equal(low uint64, c byte) uint64 { return ^(low ^ uint64(c)*ones + lowBits) }

// gather makes eight neighbouring bits of the high bits of eight bytes.
func gather(word uint64) uint64 { return word & highBits >> 7 * 0x0102040810204080 >> 56 }

// vectors reports whether this processor can fill sets 32 bytes at a time. It is
// asked when the first text is counted, so that a program's start costs nothing.
var vectors = sync.OnceValue(processorHasAVX2)

// fill is setsAVX2 for every processor.
func (s *sets) fill(b *block) {
	*s = sets{}
	for i := uint(0); i < 64; i += 8 {
		word := binary.LittleEndian.Uint64(b[i : i+8])
		low := word & lowBits
		folded := low | caseBits
		newline := atLeast(low, '\n')&^atLeast(low, '\n'+1) | atLeast(low, '\r')&^atLeast(low, '\r'+1)
		blank := equal(low, ' ')
		s.beyond |= gather(word) << i
		s.letter |= gather(atLeast(folded, 'a')&^atLeast(folded, 'z'+1)) << i
		s.digit |= gather(atLeast(low, '0')&^atLeast(low, '9'+1)) << i
		s.space |= gather(atLeast(low, '\t')&^atLeast(low, '\r'+1)|blank) << i
		s.newline |= gather(newline) << i
		s.blank |= gather(blank) << i
		s.quote |= gather(equal(low, '\'')) << i
		s.upper |= gather(^word<<2) << i
		s.slash |= gather(equal(low, '/')) << i
		s.lead |= gather(word<<1) << i
	}
	s.upper &= s.letter
}

// starts is the set of bytes of the first n at which a piece begins, given that one
// begins at the first; it leaves out that one and those of the last that it takes
// the text after n to tell.
func (e *Encoding) starts(b *block, n int, fast bool) uint64 {
	var s sets
	if fast {
		setsAVX2(b, &s)
	} else {
		s.fill(b)
	}
	cont := s.beyond &^ s.lead
	if s.beyond != 0 {
		n = e.classify(b, n, &s)
	}
	punct := ^(s.letter | s.digit | s.space)

	// Punctuation takes the line ends after it: [^\s\p{L}\p{N}]+[\r\n]*, or [\r\n/]*.
	tail := s.newline
	if e.camelCase {
		tail |= s.slash
	}
	first := s.newline & (punct << 1)
	tail = tail&^(tail+first) | first // tail's runs from first on
	punct &^= tail
	space := s.space &^ tail
	indent := space &^ s.newline

	// White space ends after its last line end, and before its last character.
	var before uint64
	if (indent+indent&^(indent<<1))&s.newline != 0 {
		before = beforeNext(indent, s.newline)
	}
	begins := tail<<1&^tail | space&^(space<<1) | indent&^before&(s.newline<<1) | indent&^(space>>1)

	// Punctuation begins with a space before it; and opens a word if it is alone.
	punct1 := punct &^ (punct << 1) &^ (space & s.blank << 1)
	begins |= punct1
	opener := punct1 | indent
	if s.beyond != 0 { // all bytes of the one character
		opener |= opener << 1 & cont
		opener |= opener << 1 & cont
		opener |= opener << 1 & cont
	}
	begins |= s.letter &^ (s.letter << 1) &^ (opener << 1)

	// \p{N}{1,3}
	for three, digit := s.digit&(s.digit<<1)&(s.digit<<2), s.digit&^(s.digit<<1); digit != 0; digit = digit << 3 & three {
		begins |= digit
	}

	end := n
	if space<<(64-uint(n))>>63 != 0 { // white space may go on
		end -= bits.LeadingZeros64(^(space << (64 - uint(n)))) - 1
	}
	if e.camelCase {
		begins |= s.upper & (s.letter &^ s.upper << 1)
		last := -1 // end of the last contraction, which a second cannot follow
		for quotes := s.quote & (s.letter << 1); quotes != 0; quotes &= quotes - 1 {
			q := bits.TrailingZeros64(quotes)
			if q >= n-2 {
				end = min(end, q)
				break
			}
			if k := contraction(b[:n], q); k > 0 && q != last {
				last = q + k
				begins = begins&^((1<<k-1)<<q) | 1<<last
			}
		}
	} else {
		for quotes := s.quote & punct1 & (s.letter >> 1); quotes != 0; quotes &= quotes - 1 {
			q := bits.TrailingZeros64(quotes)
			if k := contraction(b[:n], q); k > 0 {
				begins |= 1 << (q + k)
			}
		}
	}
	return begins & (1<<end - 1) &^ 1
}

// beforeNext is the part of set in runs that end before a byte of next.
func beforeNext(set, next uint64) uint64 {
	set, next = bits.Reverse64(set), bits.Reverse64(next)
	first := set & (next << 1)
	return bits.Reverse64(set &^ (set + first))
}

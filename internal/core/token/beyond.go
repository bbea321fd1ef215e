package token

import (
	"math/bits"

	"github.com/ctxls/ctxls/internal/core/token/internal/class"
)

// classify puts the characters beyond ASCII of the first n bytes of a block into its
// sets. It gives a smaller n where a character comes that the sets cannot tell all
// about: a number or white space beyond ASCII, and in o200k_base the two cases in
// which where a piece begins depends on what comes much later.
func (e *Encoding) classify(b *block, n int, s *sets) int {
	s.letter &^= s.beyond
	s.upper &^= s.beyond
	s.digit &^= s.beyond
	s.space &^= s.beyond
	s.newline &^= s.beyond
	s.blank &^= s.beyond
	s.quote &^= s.beyond
	s.slash &^= s.beyond

	var by [16]uint64 // by class, less its lowest bit, which none has
	for leads := s.beyond & s.lead; leads != 0; leads &= leads - 1 {
		at := bits.TrailingZeros64(leads)
		r, size := decode(b[:], at)
		c := class.Of(r)
		if c&(class.Number|class.Space) != 0 {
			n = min(n, at)
			break
		}
		by[c>>1&15] |= (1<<size - 1) << at
	}
	upper, lower, other, mark := by[class.Upper>>1], by[class.Lower>>1], by[class.OtherLetter>>1], by[class.Mark>>1]
	s.letter |= upper | lower | other
	s.upper |= upper
	if e.camelCase {
		// Punctuation takes marks along, unless it is one character, which opens a
		// word. An upper case letter after one without case belongs to its word only
		// if a lower case letter comes before the word ends.
		s.letter |= mark
		punct := ^(s.letter | s.digit | s.space)
		n = min(n, bits.TrailingZeros64(mark&(punct<<1)), bits.TrailingZeros64(s.upper&((other|mark)<<1)))
	}
	return n
}

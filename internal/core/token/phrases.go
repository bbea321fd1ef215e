package token

import "encoding/binary"

// phrases remembers the numbers of tokens of pieces of 16 to maxPhrase bytes. Their
// bytes lie one after the other in text. When that is full, it forgets all.
type phrases struct {
	index [phraseSlots]phrase // direct-mapped by hash
	used  int                 // of text
	text  [phraseBytes]byte
}

// A phrase has, from its lowest bit, where its bytes begin, their number, its number of
// tokens, which is 0 in no phrase, and the bits of its hash that do not index it.
type phrase uint64

const (
	maxPhrase   = 255
	phraseSlots = 1 << phraseBits
	phraseBytes = 192 << 10 // with 64 KiB of index, 40 bytes a phrase

	phraseBits       = 13
	phraseLenShift   = 18
	phraseCountShift = phraseLenShift + 8
	phraseHashShift  = phraseCountShift + 8
	phraseOwn        = 255<<phraseCountShift | (1<<phraseLenShift - 1) // what is not asked for
)

// newPhrase is the phrase of n bytes with this hash, without its place and its tokens.
func newPhrase(hash uint64, n int) phrase {
	return phrase(hash<<phraseBits>>phraseHashShift<<phraseHashShift) | phrase(n)<<phraseLenShift
}

// phraseHash is the hash of at least 16 bytes.
func phraseHash(b []byte) uint64 {
	h := binary.LittleEndian.Uint64(b[len(b)-8:]) ^ uint64(len(b))
	for ; len(b) > 8; b = b[8:] {
		h = (h ^ binary.LittleEndian.Uint64(b)) * hashMul
		h ^= h >> 32
	}
	return h * hashMul
}

// get is the number of tokens of a piece, or 0 if it is not known.
func (s *phrases) get(hash uint64, piece []byte) int {
	e := s.index[hash>>(64-phraseBits)]
	if (e^newPhrase(hash, len(piece)))&^phraseOwn != 0 {
		return 0
	}
	from := int(e & (1<<phraseLenShift - 1))
	if from > phraseBytes-len(piece) || string(s.text[from:from+len(piece)]) != string(piece) {
		return 0
	}
	return int(e & phraseOwn >> phraseCountShift)
}

// put remembers what get did not know.
func (s *phrases) put(hash uint64, piece []byte, tokens int) {
	if s.used+len(piece) > phraseBytes {
		clear(s.index[:])
		s.used = 0
	}
	s.index[hash>>(64-phraseBits)] = newPhrase(hash, len(piece)) | phrase(tokens)<<phraseCountShift | phrase(s.used)
	s.used += copy(s.text[s.used:], piece)
}

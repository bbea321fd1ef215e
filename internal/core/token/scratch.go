package token

// scratch is the memory that counting needs. What its caches hold is true of an
// encoding, whatever the text: so they are kept for the texts that come later.
type scratch struct {
	merges
	rest    block // the text's last bytes, where a block would not fit
	vectors bool

	words   *[wordSlots]word // direct-mapped by hash
	phrases *phrases
	bits    uint8 // of the hash that words is indexed by; the memo has one fewer
}

// A word is a piece of 1 to 15 bytes: its bytes, lowest first, and above them its
// length in four bits and its number of tokens in four more.
type word struct{ lo, hi uint64 }

const (
	maxWord        = 15
	wordLenShift   = 56
	wordCountShift = 60
)

// The caches may be large: 512 KiB of words hold nearly all that a megabyte of
// text says, and what is not used costs nothing. But a page of memory costs its
// first use a quarter of a microsecond, so that a process that counts one short
// text uses the first few pages only: it has a slot for every four bytes.
const (
	minBits   = 7
	maxBits   = 15
	wordSlots = 1 << maxBits
	memoSlots = 1 << (maxBits - 1)
	maxKeep   = 1 << 14 // words of 64 bytes that a piece may have for its bits' memory to be kept
)

// newScratch is the scratch memory for a text of n bytes.
func (e *Encoding) newScratch(n int) *scratch {
	s, ok := e.scratches.Get().(*scratch)
	if !ok {
		s = &scratch{words: new([wordSlots]word), phrases: new(phrases), bits: minBits, vectors: vectors()}
		s.table, s.memo = &e.table, new([memoSlots]uint64)
	}
	// With more bits, what the caches had is not found, but nothing wrong is.
	for s.bits < maxBits && n>>(s.bits+2) > 0 {
		s.bits++
	}
	s.memoShift = 64 - (s.bits - 1)
	return s
}

// free gives the memory back, but for what a giant piece made it grow by.
func (e *Encoding) free(s *scratch) {
	s.text = nil
	if cap(s.starts) > maxKeep {
		s.starts, s.dead = nil, nil
	}
	e.scratches.Put(s)
}

package token

import "sync"

// scratch is the memory that a run needs. The memory is used again by later runs,
// its contents are not: every run starts with nothing known.
type scratch struct {
	merges
	rest block // the text's last bytes, where a block would not fit

	// Caches of the pieces of this text, direct-mapped by their hash. The first has
	// those of up to 7 bytes, each in one integer with its length and number of tokens;
	// the second has those of up to maxSeen. Beside each is where in the run's ids the
	// piece's begin, if they are wanted.
	words   [slots]uint64
	seen    [slots]seen
	wordIDs [slots]int
	seenIDs [slots]int
	shift   uint8 // of a hash, to be a slot
	memos   [slots]uint64
}

// In words, a piece's length and number of tokens stand above its bytes.
const (
	lenShift   = 56
	countShift = 59
)

// seen is a piece, as the place where the text has it, and its number of tokens.
type seen struct {
	at    uint32
	len   uint16 // 0 if there is none
	count uint16
}

// The caches have up to 8192 entries, 64 KiB each: room is left for the vocabulary
// in a core's second-level cache, and more entries find few pieces more. Short
// texts use fewer, so that clearing them costs little: one for every 16 bytes.
const (
	minBits = 5
	maxBits = 13
	slots   = 1 << maxBits
	maxSeen = 64      // bytes; longer pieces seldom come twice
	maxKeep = 1 << 16 // ids that a piece may have for their memory to be kept
)

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// newScratch is the scratch memory for a text of n bytes.
func newScratch(e *Encoding, n int) *scratch {
	s := scratches.Get().(*scratch)
	s.table = &e.table
	s.bits = minBits
	for s.bits < maxBits && n>>(s.bits+4) > 0 {
		s.bits++
	}
	s.shift = uint8(64 - s.bits)
	s.memo = s.memos[:1<<s.bits]
	clear(s.words[:1<<s.bits])
	clear(s.seen[:1<<s.bits])
	clear(s.memo)
	return s
}

// free gives the memory back, but for what a giant piece made it grow by.
func (s *scratch) free() {
	s.text = nil
	if cap(s.merges.ids) > maxKeep {
		s.merges.ids, s.taken, s.dead = nil, nil, nil
	}
	scratches.Put(s)
}

package token

import (
	"math"
	"sync"

	"github.com/ctxls/ctxls/internal/core/token/internal/vocab"
)

// scratch is the memory that a run needs once it meets a piece that is no token.
// The memory is used again by later runs, its contents are not: every run starts
// with nothing known.
type scratch struct {
	merges

	// seen is a cache of the pieces of this text, direct-mapped by their hash; at
	// holds, for each, where in the run's ids its ids begin, if they are wanted.
	seen []seen
	at   []int

	seenMemory [1 << maxBits]seen
	atMemory   [1 << maxBits]int
	memoMemory [1 << maxBits]uint64
}

// seen is a piece, as the place where the text has it, and its number of tokens.
type seen struct {
	at    uint32
	len   uint16 // 0 if there is none
	count uint16
}

// The caches have up to 8192 entries, 64 KiB each, which leaves room for the
// vocabulary in a core's second-level cache. Short texts use fewer, so that
// clearing them costs little: one entry for every 16 bytes of text.
const (
	minBits = 5
	maxBits = 13
	maxSeen = 64      // bytes; longer pieces seldom come twice
	maxKeep = 1 << 16 // ids that a piece may have for their memory to be kept
)

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func newScratch(r *run) *scratch {
	s := scratches.Get().(*scratch)
	s.table = &r.table
	s.bits = minBits
	for s.bits < maxBits && len(r.text)>>(s.bits+4) > 0 {
		s.bits++
	}
	s.seen = s.seenMemory[:1<<s.bits]
	s.memo = s.memoMemory[:1<<s.bits]
	s.at = s.atMemory[:1<<s.bits]
	clear(s.seen)
	clear(s.memo)
	return s
}

// free gives the scratch memory back, but for what a giant piece made it grow by.
func (r *run) free() {
	s := r.scratch
	if s == nil {
		return
	}
	s.text = nil
	if cap(s.ids) > maxKeep {
		s.ids, s.taken, s.dead = nil, nil, nil
	}
	scratches.Put(s)
}

// merge encodes the piece text[p:end], which is no token.
func (r *run) merge(p, end int) {
	if r.scratch == nil {
		r.scratch = newScratch(r)
	}
	s, text, n := r.scratch, r.text, end-p
	if n > maxSeen || uint64(end) > math.MaxUint32 {
		r.add(s.encode(text, p, end, r.wantIDs))
		return
	}
	k := min(n, 8)
	hash := (vocab.Load(text, p, k) ^ vocab.Load(text, end-k, k)*hashMul>>1 ^ uint64(n)) * hashMul
	slot := hash >> (64 - s.bits)
	piece := &s.seen[slot]
	if int(piece.len) == n && string(text[piece.at:int(piece.at)+n]) == string(text[p:end]) {
		r.n += int(piece.count)
		if r.wantIDs {
			at := s.at[slot]
			r.ids = append(r.ids, r.ids[at:at+int(piece.count)]...)
		}
		return
	}
	s.at[slot] = len(r.ids)
	count := s.encode(text, p, end, r.wantIDs)
	*piece = seen{at: uint32(p), len: uint16(n), count: uint16(count)}
	r.add(count)
}

// add takes the piece that was encoded last into the result.
func (r *run) add(count int) {
	r.n += count
	if r.wantIDs {
		r.ids = append(r.ids, r.scratch.ids...)
	}
}

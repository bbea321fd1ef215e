package token

import (
	"math"
	"sync"

	"github.com/ctxls/ctxls/internal/core/token/internal/vocab"
)

// scratch is the memory that a run needs once it meets a piece that is no token.
// It is reused between runs, never its contents: a run starts with nothing known.
type scratch struct {
	merges
	seen []entry // direct-mapped by hash of the piece

	out     [1 << maxBits]int // of each seen piece, where its ids are in the run's
	seenAll [1 << maxBits]entry
	memoAll [1 << maxBits]uint64
}

// entry remembers the encoding of a piece by where the text has it.
type entry struct {
	at    uint32 // of the piece in the text
	len   uint16 // 0: empty
	count uint16
}

// At most 4096 entries: 80 KiB in all, which stays in a core's second-level cache
// beside the vocabulary. Short texts use fewer, so that clearing them stays cheap.
const (
	minBits = 5
	maxBits = 13
	maxSeen = 64 // bytes; longer pieces hardly come twice
)

var pool = sync.Pool{New: func() any { return new(scratch) }}

func (r *run) free() {
	if r.scratch != nil {
		r.scratch.text = nil
		pool.Put(r.scratch)
	}
}

func (r *run) merge(p, end int) {
	s := r.scratch
	if s == nil {
		s = pool.Get().(*scratch)
		r.scratch = s
		s.table = &r.table
		s.bits = minBits
		for s.bits < maxBits && len(r.text)>>(s.bits+4) > 0 {
			s.bits++
		}
		s.seen = s.seenAll[:1<<s.bits]
		s.memo = s.memoAll[:1<<s.bits]
		clear(s.seen)
		clear(s.memo)
	}
	n := end - p
	if n > maxSeen || end > math.MaxUint32 {
		r.add(s.encode(r.text, p, end, r.wantIDs))
		return
	}
	first, last := vocab.Load(r.text, p, min(n, 8)), vocab.Load(r.text, max(p, end-8), min(n, 8))
	h := (first ^ last*0xff51afd7ed558ccd ^ uint64(n)) * hashMul
	slot := h >> (64 - s.bits)
	e := &s.seen[slot]
	if int(e.len) == n && string(r.text[e.at:int(e.at)+n]) == string(r.text[p:end]) {
		r.n += int(e.count)
		if r.wantIDs {
			at := s.out[slot]
			r.ids = append(r.ids, r.ids[at:at+int(e.count)]...)
		}
		return
	}
	*e = entry{at: uint32(p), len: uint16(n)}
	s.out[slot] = len(r.ids)
	count := s.encode(r.text, p, end, r.wantIDs)
	e.count = uint16(count)
	r.add(count)
}

func (r *run) add(n int) {
	r.n += n
	if r.wantIDs {
		r.ids = append(r.ids, r.scratch.ids...)
	}
}

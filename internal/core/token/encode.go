package token

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/ctxls/ctxls/internal/core/token/internal/vocab"
)

// run is one pass over one text.
type run struct {
	*Encoding
	*scratch
	text    []byte // valid UTF-8
	wantIDs bool
	ids     []uint32 // so far, if wanted
	n       int      // tokens so far
}

// encode goes through the text block by block: one look at a block tells where its
// pieces begin, if they are ASCII. What is not goes the long way round, by pieceEnd.
// Nearly all pieces of nearly all texts lie in blocks, have fewer than eight bytes
// and came before.
func (r *run) encode() {
	r.scratch = newScratch(r.Encoding, len(r.text))
	for p := 0; p < len(r.text); {
		if n := r.block(p); n > 0 {
			p += n
			continue
		}
		end := r.pieceEnd(r.text, p)
		r.piece(p, end)
		p = end
	}
	r.scratch.free()
}

// block encodes the pieces that surely end in the block that begins with a piece at
// p, and gives their length in bytes: 0 if there is none, or where a block would pay
// for one or two pieces only.
func (r *run) block(p int) int {
	rest := r.text[p:]
	if len(rest) < 16 || binary.LittleEndian.Uint64(rest)&highBits != 0 {
		return 0
	}
	b, n := &r.rest, 64
	if len(rest) >= len(b) {
		b = (*block)(rest)
	} else {
		n = min(n, len(rest))
		clear(b[copy(b[:], rest):])
	}
	s, begin, count := r.scratch, 0, 0
	for starts := r.starts(b, n); starts != 0; starts &= starts - 1 {
		end := bits.TrailingZeros64(starts)
		if n := end - begin; n > 7 {
			r.piece(p+begin, p+end)
		} else {
			key := binary.LittleEndian.Uint64(b[begin&63:])&vocab.Mask(n) | uint64(n)<<lenShift
			slot := key * hashMul >> (s.shift & 63) & (slots - 1)
			if word := s.words[slot]; word&^(7<<countShift) != key {
				s.wordIDs[slot] = len(r.ids)
				s.words[slot] = key | uint64(r.word(key, p+begin, p+end))<<countShift
			} else if count += int(word >> countShift); r.wantIDs {
				r.again(s.wordIDs[slot], int(word>>countShift))
			}
		}
		begin = end
	}
	r.n += count
	return begin
}

// piece encodes the piece text[p:end], of any length.
func (r *run) piece(p, end int) {
	n := end - p
	if n > maxSeen || uint64(end) > math.MaxUint32 {
		r.first(p, end)
		return
	}
	s, k := r.scratch, min(n, 8)
	hash := (vocab.Load(r.text, p, k) ^ vocab.Load(r.text, end-k, k)*hashMul>>1 ^ uint64(n)) * hashMul
	slot := hash >> (s.shift & 63) & (slots - 1)
	seen := &s.seen[slot]
	if int(seen.len) == n && string(r.text[seen.at:int(seen.at)+n]) == string(r.text[p:end]) {
		r.n += int(seen.count)
		if r.wantIDs {
			r.again(s.seenIDs[slot], int(seen.count))
		}
		return
	}
	s.seenIDs[slot] = len(r.ids)
	seen.at, seen.len, seen.count = uint32(p), uint16(n), uint16(r.first(p, end))
}

// word is first for a piece of up to 7 bytes, whose key in words is given.
func (r *run) word(key uint64, p, end int) (count int) {
	if r.text[end-1] != 0 { // see vocab.Table.Short
		if slot, ok := r.table.Short(key & (1<<lenShift - 1)); ok {
			r.n++
			if r.wantIDs {
				r.ids = append(r.ids, r.table.ShortValue(slot).ID())
			}
			return 1
		}
		return r.merge(p, end)
	}
	return r.first(p, end)
}

// first encodes a piece that the caches do not have, and gives its number of tokens.
func (r *run) first(p, end int) (count int) {
	if v := r.table.Find(r.text, p, end); v.IsToken() {
		r.n++
		if r.wantIDs {
			r.ids = append(r.ids, v.ID())
		}
		return 1
	}
	return r.merge(p, end)
}

// merge encodes a piece that is no token.
func (r *run) merge(p, end int) (count int) {
	count = r.merges.encode(r.text, p, end, r.wantIDs)
	r.n += count
	if r.wantIDs {
		r.ids = append(r.ids, r.merges.ids...)
	}
	return count
}

// again adds the count ids that begin at ids[at] once more.
func (r *run) again(at, count int) {
	if count == 1 {
		r.ids = append(r.ids, r.ids[at])
		return
	}
	r.ids = append(r.ids, r.ids[at:at+count]...)
}

package token

import (
	"math"
	"math/bits"

	"github.com/ctxls/ctxls/internal/core/token/internal/vocab"
)

// merges encodes one piece that is no token. Byte-pair encoding is defined as
// merging, again and again, the adjacent pair of lowest rank; done that way its
// cost grows with the square of the piece. This instead takes the longest token
// that fits, goes on from its end, and goes back where the result could not have
// come from merging: an encoding is the right one exactly when every two
// neighbours are (see compatible), and no position needs to be tried twice. The
// method is that of GitHub's bpe crate for Rust.
type merges struct {
	table *vocab.Table
	text  []byte // the piece
	ids   []uint32
	lens  []uint8
	dead  []uint64 // bit p: no encoding of text[p:] follows any tried so far
	buf   [vocab.MaxToken]vocab.Prefix

	// memo remembers what compatible said of a pair of ids. Runs of one character
	// ask the same costly questions over and over.
	memo []uint64
}

// encode encodes text[from:to]: it gives the number of tokens, and leaves their
// ids in m.ids if wanted.
func (m *merges) encode(text []byte, from, to int, wantIDs bool) int {
	if to-from <= maxShort {
		return m.encodeShort(text, from, to, wantIDs)
	}
	m.encodeLong(text[from:to])
	return len(m.ids)
}

// maxShort is the longest piece in bytes that is merged pair by pair, as the
// definition says: with so few pairs that is the fastest way (measured on code
// and prose; at most 64, the bits of a mask).
const maxShort = 32

// encodeShort merges pair by pair. The parts of the piece are the set bits of a
// mask: a part begins at each. next[i] holds, for the part at i, the rank of its
// merge with the part after it above the six bits of i itself, so that the
// smallest number is the lowest rank, leftmost first.
func (m *merges) encodeShort(text []byte, from, to int, wantIDs bool) int {
	const never = math.MaxUint32
	var next [maxShort]uint32
	n := to - from
	order := next[:n]
	for i := range n - 1 {
		order[i] = never
		if v := m.table.Pair(text, from+i); v.IsToken() {
			order[i] = v.ID()<<6 | uint32(i)
		}
	}
	order[n-1] = never
	starts := ^uint64(0) >> (64 - n)
	for {
		best := uint32(never)
		for _, o := range order {
			best = min(best, o)
		}
		if best == never {
			break
		}
		// The parts at i and j become one; then come the parts at k and l.
		i := int(best & 63)
		j := after(starts, i)
		starts &^= 1 << j
		order[j] = never
		k := after(starts, i)
		order[i] = never
		if k < n {
			if v := m.table.Find(text, from+i, from+min(after(starts, k), n)); v.IsToken() {
				order[i] = v.ID()<<6 | uint32(i)
			}
		}
		if below := starts & (1<<i - 1); below != 0 {
			h := 63 - bits.LeadingZeros64(below)
			order[h] = never
			if v := m.table.Find(text, from+h, from+min(k, n)); v.IsToken() {
				order[h] = v.ID()<<6 | uint32(h)
			}
		}
	}
	if wantIDs {
		m.ids = m.ids[:0]
		for s := starts; s != 0; s &= s - 1 {
			i := bits.TrailingZeros64(s)
			m.ids = append(m.ids, m.table.Find(text, from+i, from+min(after(starts, i), n)).ID())
		}
	}
	return bits.OnesCount64(starts)
}

// after is the position of the first set bit above i, or 64.
func after(mask uint64, i int) int {
	return bits.TrailingZeros64(mask &^ (2<<i - 1))
}

func (m *merges) encodeLong(piece []byte) {
	m.text, m.ids, m.lens = piece, m.ids[:0], m.lens[:0]
	words := len(piece)/64 + 1
	if cap(m.dead) < words {
		m.dead = make([]uint64, words)
	}
	m.dead = m.dead[:words]
	clear(m.dead)

	p := 0
	prefixes := m.table.Prefixes(piece, 0, m.buf[:0])
	for p < len(piece) {
		// The longest prefix that is compatible with the token before.
		fits := false
		for len(prefixes) > 0 {
			next := prefixes[len(prefixes)-1]
			prefixes = prefixes[:len(prefixes)-1]
			end := p + next.Len
			if m.dead[end/64]>>(end%64)&1 == 0 && m.follows(p, next) {
				m.ids = append(m.ids, next.Value.ID())
				m.lens = append(m.lens, uint8(next.Len))
				p, fits = end, true
				break
			}
		}
		if fits {
			if p < len(piece) {
				prefixes = m.table.Prefixes(piece, p, m.buf[:0])
			}
			continue
		}
		// None: this position is dead. Take the token before back and try shorter.
		m.dead[p/64] |= 1 << (p % 64)
		top := len(m.ids) - 1
		n := int(m.lens[top])
		m.ids, m.lens = m.ids[:top], m.lens[:top]
		p -= n
		prefixes = m.table.Prefixes(piece, p, m.buf[:0])
		for len(prefixes) > 0 && prefixes[len(prefixes)-1].Len >= n {
			prefixes = prefixes[:len(prefixes)-1]
		}
	}
}

// follows reports whether the token at p may stand after the last one taken.
func (m *merges) follows(p int, next vocab.Prefix) bool {
	top := len(m.ids) - 1
	if top < 0 {
		return true
	}
	pair := (uint64(m.ids[top])<<32 | uint64(next.Value.ID())) + 1
	memo := &m.memo[pair*0x9E3779B97F4A7C15>>(64-bits.TrailingZeros(uint(len(m.memo))))]
	if *memo>>1 == pair {
		return *memo&1 != 0
	}
	n := int(m.lens[top])
	ok := compatible(m.table, m.text, p, vocab.Prefix{Len: n, Value: m.table.Find(m.text, p-n, p)}, next)
	*memo = pair << 1
	if ok {
		*memo |= 1
	}
	return ok
}

// compatible reports whether merging would leave the two tokens that meet at p
// as they are. It undoes their merges, latest first, and looks at each step for a
// merge across p that would have come earlier.
func compatible(t *vocab.Table, text []byte, p int, left, right vocab.Prefix) bool {
	limit := uint32(math.MaxUint32)
	for {
		if v := t.Find(text, p-left.Len, p+right.Len); v.IsToken() && v.ID() < limit {
			return false
		}
		l, r := left.Value.ID(), right.Value.ID()
		if l > r {
			if left.Len == 1 {
				return true
			}
			limit = l
			left.Len -= left.Value.Split()
			left.Value = t.Find(text, p-left.Len, p)
		} else {
			if right.Len == 1 {
				return true
			}
			limit = r + 1
			right.Len = right.Value.Split()
			right.Value = t.Find(text, p, p+right.Len)
		}
	}
}

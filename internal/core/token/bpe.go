package token

import (
	"math"
	"math/bits"
	"slices"

	"github.com/ctxls/ctxls/internal/core/token/internal/vocab"
)

// merges encodes pieces that are no token by byte-pair encoding, which is defined
// as merging, again and again, the adjacent pair of lowest rank, the leftmost of
// equals. Done in those words its cost grows with the square of the piece, which
// is fine for a word and not for a megabyte.
type merges struct {
	table *vocab.Table
	ids   []uint32 // of the piece encoded last

	// For long pieces.
	text  []byte   // the piece
	taken []taken  // beside ids
	dead  []uint64 // bit p is set when no token at p leads on
	buf   [vocab.MaxToken]vocab.Prefix

	// memo remembers what compatible said of a pair of ids, direct-mapped. Runs of
	// one character ask the same costly questions over and over.
	memo      *[memoSlots]uint64
	memoShift uint8 // of a hash, to index it
}

// hashMul is 2^64 divided by the golden ratio, for multiplicative hashing.
const hashMul = 0x9E3779B97F4A7C15

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

// encodeLong leaves the ids of the piece in m.ids. It takes the longest token that
// fits, goes on from its end, and goes back where nothing fits: an encoding is the
// one that merging gives exactly when every two neighbours in it are compatible,
// so there is only one, and a position that led nowhere need not be tried again.
// (The method is that of GitHub's bpe crate for Rust.)
func (m *merges) encodeLong(piece []byte) {
	m.text, m.ids, m.taken = piece, m.ids[:0], m.taken[:0]
	m.dead = slices.Grow(m.dead[:0], len(piece)/64+1)[:len(piece)/64+1]
	clear(m.dead)

	p := 0
	shorterThan := math.MaxInt
	for p < len(piece) {
		if n, ok := m.next(p, shorterThan); ok {
			p += n
			shorterThan = math.MaxInt
			continue
		}
		// Take the last token back, and go on with a shorter one in its place.
		m.dead[p/64] |= 1 << (p % 64)
		last := len(m.ids) - 1
		n := m.taken[last].len()
		shorterThan = n
		if m.taken[last].again() {
			shorterThan = math.MaxInt // no other was tried
		}
		m.ids, m.taken = m.ids[:last], m.taken[:last]
		p -= n
	}
}

// next takes the token at p, of fewer bytes than given, and gives its length.
func (m *merges) next(p, shorterThan int) (n int, ok bool) {
	piece := m.text
	// Runs of one character are runs of one token, but seldom the longest that
	// fits. So the last token is tried again before all others.
	if last := len(m.ids) - 1; last >= 0 && shorterThan == math.MaxInt {
		n := m.taken[last].len()
		if p+n <= len(piece) && string(piece[p-n:p]) == string(piece[p:p+n]) && !m.isDead(p+n) {
			v := m.table.Find(piece, p, p+n)
			if m.follows(p, vocab.Prefix{Len: n, Value: v}) {
				m.take(v, n, true)
				return n, true
			}
		}
	}
	prefixes := m.table.Prefixes(piece, p, m.buf[:0])
	for i := len(prefixes) - 1; i >= 0; i-- {
		token := prefixes[i]
		if token.Len < shorterThan && !m.isDead(p+token.Len) && m.follows(p, token) {
			m.take(token.Value, token.Len, false)
			return token.Len, true
		}
	}
	return 0, false
}

// taken is a token's length less one, and whether it was tried as a repetition.
type taken uint8

func (t taken) len() int    { return int(t&0x7f) + 1 }
func (t taken) again() bool { return t&0x80 != 0 }

func (m *merges) take(v vocab.Value, n int, again bool) {
	t := taken(n - 1)
	if again {
		t |= 0x80
	}
	m.ids, m.taken = append(m.ids, v.ID()), append(m.taken, t)
}

func (m *merges) isDead(p int) bool { return m.dead[p/64]>>(p%64)&1 != 0 }

// follows reports whether the token at p may stand after the last one taken.
func (m *merges) follows(p int, right vocab.Prefix) bool {
	last := len(m.ids) - 1
	if last < 0 {
		return true
	}
	pair := (uint64(m.ids[last])<<32 | uint64(right.Value.ID())) + 1
	memo := &m.memo[pair*hashMul>>(m.memoShift&63)&(memoSlots-1)]
	if *memo>>1 == pair {
		return *memo&1 != 0
	}
	n := m.taken[last].len()
	left := vocab.Prefix{Len: n, Value: m.table.Find(m.text, p-n, p)}
	ok := compatible(m.table, m.text, p, left, right)
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

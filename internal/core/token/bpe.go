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

// encode leaves the ids of the piece in m.ids.
func (m *merges) encode(piece []byte) {
	if len(piece) <= maxShort {
		m.encodeShort(piece)
		return
	}
	m.encodeLong(piece)
}

const maxShort = 24

func (m *merges) encodeShort(piece []byte) {
	var parts [maxShort + 1]struct{ start, rank uint32 }
	n := len(piece)
	rank := func(from, to uint32) uint32 {
		if v := m.table.Find(piece, int(from), int(to)); v.IsToken() {
			return v.ID()
		}
		return math.MaxUint32
	}
	for i := range n {
		parts[i].start = uint32(i)
		parts[i].rank = math.MaxUint32
		if i+1 < n {
			parts[i].rank = rank(uint32(i), uint32(i+2))
		}
	}
	parts[n].start = uint32(n)
	// n parts, parts[n] sentinel
	for {
		best, at := uint32(math.MaxUint32), 0
		for i := range parts[:n] {
			if parts[i].rank < best {
				best, at = parts[i].rank, i
			}
		}
		if best == math.MaxUint32 {
			break
		}
		copy(parts[at+1:n], parts[at+2:n+1])
		n--
		if at+1 < n {
			parts[at].rank = rank(parts[at].start, parts[at+2].start)
		} else {
			parts[at].rank = math.MaxUint32
		}
		if at > 0 {
			parts[at-1].rank = rank(parts[at-1].start, parts[at+1].start)
		}
	}
	m.ids = m.ids[:0]
	for i := range n {
		m.ids = append(m.ids, rank(parts[i].start, parts[i+1].start))
	}
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

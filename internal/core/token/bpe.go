package token

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/ctxls/ctxls/internal/core/token/internal/vocab"
)

// merges encodes pieces that are no token by byte-pair encoding, which is defined
// as merging, again and again, the adjacent pair of lowest rank, the leftmost of
// equals. Done in those words its cost grows with the square of the piece, which
// is fine for a word and not for a megabyte: see encodeLong.
type merges struct {
	table *vocab.Table

	// Of a long piece, from base on: where its tokens begin, so far, and where no
	// token of the piece can begin. One bit a byte.
	text   []byte
	base   int // a multiple of 64
	starts []uint64
	dead   []uint64
	buf    [vocab.MaxToken]vocab.Prefix

	// memo remembers what compatible said of a pair of ids, direct-mapped.
	memo      *[memoSlots]uint64
	memoShift uint8 // of a hash, to index it
}

// hashMul is 2^64 divided by the golden ratio, for multiplicative hashing.
const hashMul = 0x9E3779B97F4A7C15

// count is the number of tokens of a piece.
func (m *merges) count(piece []byte) int {
	if len(piece) <= maxShort {
		return bits.OnesCount64(m.merge(piece))
	}
	n, ok := m.encodeLong(piece, keepBytes)
	if !ok { // no text is known for which this is so
		n, _ = m.encodeLong(piece, len(piece))
	}
	for _, word := range m.starts {
		n += bits.OnesCount64(word)
	}
	return n
}

// keepBytes is how many bytes encodeLong can go back for sure, when it counts. For a
// piece of twice as many bytes or more, it remembers no more than twice as many.
const keepBytes = 64 << 10

// encode appends the ids of a piece's tokens.
func (m *merges) encode(piece []byte, ids []uint32) []uint32 {
	var starts []uint64
	if len(piece) <= maxShort {
		starts = []uint64{m.merge(piece)}
	} else {
		m.encodeLong(piece, len(piece))
		starts = m.starts
	}
	p := 0
	for i, word := range starts {
		for ; word != 0; word &= word - 1 {
			if next := i*64 + bits.TrailingZeros64(word); next > 0 {
				ids = append(ids, m.table.Find(piece, p, next).ID())
				p = next
			}
		}
	}
	return append(ids, m.table.Find(piece, p, len(piece)).ID())
}

// maxShort is the longest piece in bytes that is merged pair by pair, as the
// definition says: with so few pairs that is the fastest way (measured on code
// and prose; at most 63, so that there is a bit above those of the parts).
const maxShort = 32

// merge merges a short piece pair by pair, and gives where its tokens begin as the
// bits of a mask. next[i] holds, for the part at i, the rank of its merge with the
// part after it above the six bits of i itself, so that the smallest number is the
// lowest rank, leftmost first. Where there is no merge the rank is vocab.NoID.
func (m *merges) merge(piece []byte) (starts uint64) {
	const never = vocab.NoID << 6
	var next [maxShort]uint32
	var b [maxShort + 8]byte // so that eight bytes can be loaded anywhere
	n := copy(b[:maxShort], piece)
	for i := range n - 1 {
		next[i] = m.table.Pair(b[:], i).ID()<<6 | uint32(i)
	}
	for i := n - 1; i < (n+3)&^3; i++ {
		next[i] = never
	}
	find := func(from, to int) uint32 {
		if n := to - from; n <= 8 {
			return m.table.Chunk(binary.LittleEndian.Uint64(b[from&31:])&vocab.Mask(n), n).ID()<<6 | uint32(from)
		}
		return m.table.Find(b[:], from, to).ID()<<6 | uint32(from)
	}
	starts = 1<<n | (1<<n - 1) // and the end
	for {
		b0, b1, b2, b3 := uint32(never), uint32(never), uint32(never), uint32(never)
		for i := 0; i < n; i += 4 {
			four := next[i&(maxShort-4):][:4]
			b0, b1, b2, b3 = min(b0, four[0]), min(b1, four[1]), min(b2, four[2]), min(b3, four[3])
		}
		best := min(b0, b1, b2, b3)
		if best >= never {
			return starts &^ (1 << n)
		}
		// The parts at i and j become one; then come the parts at k and l.
		i := int(best & (maxShort - 1))
		above := starts &^ (2<<i - 1)
		j := bits.TrailingZeros64(above)
		starts &^= 1 << j
		next[j&(maxShort-1)] = never
		above &= above - 1
		k := bits.TrailingZeros64(above)
		next[i] = never
		if k < n {
			next[i] = find(i, bits.TrailingZeros64(above&(above-1)))
		}
		if below := starts & (1<<i - 1); below != 0 {
			h := 63 - bits.LeadingZeros64(below)
			next[h&(maxShort-1)] = find(h, k)
		}
	}
}

// encodeLong leaves where the piece's tokens begin in m.starts. It rests on this:
// an encoding is the one that merging gives exactly when every two neighbours in
// it are compatible, so there is only one (the method is that of GitHub's bpe crate
// for Rust). So tokens may come from anywhere, if only their borders are checked:
//
//   - from merging the next few bytes, without the last two tokens, which the text
//     after them might change;
//   - from the token before, again and again, where a text repeats itself;
//   - else from the longest token that fits. Where none fits, the last token is taken
//     back, and its end is dead: it need not be tried again.
//
// It forgets what lies further back than keep bytes, at least, and gives the number of
// tokens there. It fails if it has to go back there.
func (m *merges) encodeLong(piece []byte, keep int) (forgotten int, ok bool) {
	const slack = 2 * vocab.MaxToken / 64
	keep = keep/64 + 1 // words
	words := min(len(piece)/64+2, 2*keep+slack)
	m.text, m.base = piece, 0
	m.starts = slices.Grow(m.starts[:0], words)[:words]
	m.dead = slices.Grow(m.dead[:0], words)[:words]
	clear(m.starts)
	clear(m.dead)

	var last vocab.Prefix // the token that ends at p
	fits := 0             // how many longest tokens to take before merging is tried again
	pause := 4
	for p := 0; p < len(piece); {
		if m.base+(words-1)*64 <= len(piece) && p-m.base >= 2*keep*64 {
			forgotten += m.forget(keep)
		}
		if n := m.repeat(p, last); n > 0 {
			p += n
			continue
		}
		if fits == 0 && piece[p] < 0x80 {
			if n := m.window(p, &last); n > 0 {
				p, pause = p+n, 4
				continue
			}
			fits, pause = pause, min(2*pause, 256)
		}
		fits = max(0, fits-1)
		if token, ok := m.longest(p, last); ok {
			m.starts[(p-m.base)/64] |= 1 << (p % 64)
			p += token.Len
			last = token
			continue
		}
		m.dead[(p-m.base)/64] |= 1 << (p % 64)
		p -= last.Len
		if p < m.base {
			return 0, false
		}
		m.starts[(p-m.base)/64] &^= 1 << (p % 64)
		last = vocab.Prefix{}
		if p > 0 {
			from := p - 1
			for from >= m.base && !m.isSet(m.starts, from) {
				from--
			}
			if from < m.base {
				return 0, false
			}
			last = vocab.Prefix{Len: p - from, Value: m.table.Find(piece, from, p)}
		}
	}
	return forgotten, true
}

// forget moves base by so many words, and gives the number of tokens before it.
func (m *merges) forget(words int) (tokens int) {
	for _, word := range m.starts[:words] {
		tokens += bits.OnesCount64(word)
	}
	clear(m.starts[copy(m.starts, m.starts[words:]):])
	clear(m.dead[copy(m.dead, m.dead[words:]):])
	m.base += words * 64
	return tokens
}

// isSet reports whether a set has the byte at p of the piece.
func (m *merges) isSet(set []uint64, p int) bool { return set[(p-m.base)/64]>>(p%64)&1 != 0 }

// window takes the tokens that merging makes of the next bytes, but for the last
// two, and gives their length: 0 if there are none that fit.
func (m *merges) window(p int, last *vocab.Prefix) int {
	n := min(len(m.text)-p, maxShort)
	starts := m.merge(m.text[p : p+n])
	if p+n < len(m.text) {
		if bits.OnesCount64(starts) < 3 {
			return 0
		}
		for range 2 {
			n = 63 - bits.LeadingZeros64(starts)
			starts &^= 1 << n
		}
	}
	// The first token must be compatible with the last, and no border may be dead.
	first := n
	if rest := starts & (starts - 1); rest != 0 {
		first = bits.TrailingZeros64(rest)
	}
	if !m.follows(p, *last, vocab.Prefix{Len: first, Value: m.table.Find(m.text, p, p+first)}) {
		return 0
	}
	for borders := starts&^1 | 1<<n; borders != 0; borders &= borders - 1 {
		if m.isSet(m.dead, p+bits.TrailingZeros64(borders)) {
			return 0
		}
	}
	at := (p - m.base) / 64
	m.starts[at] |= starts << (p % 64)
	if p%64 > 0 {
		m.starts[at+1] |= starts >> (64 - p%64)
	}
	from := 63 - bits.LeadingZeros64(starts)
	*last = vocab.Prefix{Len: n - from, Value: m.table.Find(m.text, p+from, p+n)}
	return n
}

// repeat takes the last token again as often as the text repeats it, but the last
// time, and gives the length of all.
func (m *merges) repeat(p int, last vocab.Prefix) int {
	n, text := last.Len, m.text
	if n == 0 || p+2*n > len(text) || string(text[p-n:p]) != string(text[p:p+n]) || !m.follows(p, last, last) {
		return 0
	}
	end := p + n
	limit := min(len(text), m.base+len(m.starts)*64-vocab.MaxToken)
	for end+8 <= limit && binary.LittleEndian.Uint64(text[end:]) == binary.LittleEndian.Uint64(text[end-n:]) {
		end += 8
	}
	q := p
	for q+2*n <= end && !m.isSet(m.dead, q+n) {
		m.starts[(q-m.base)/64] |= 1 << (q % 64)
		q += n
	}
	return q - p
}

// longest is the longest token that fits at p.
func (m *merges) longest(p int, last vocab.Prefix) (token vocab.Prefix, ok bool) {
	prefixes := m.table.Prefixes(m.text, p, m.buf[:0])
	for i := len(prefixes) - 1; i >= 0; i-- {
		token := prefixes[i]
		if !m.isSet(m.dead, p+token.Len) && m.follows(p, last, token) {
			return token, true
		}
	}
	return vocab.Prefix{}, false
}

// follows reports whether right may stand at p, after left.
func (m *merges) follows(p int, left, right vocab.Prefix) bool {
	if p == 0 {
		return true
	}
	pair := (uint64(left.Value.ID())<<32 | uint64(right.Value.ID())) + 1
	memo := &m.memo[pair*hashMul>>(m.memoShift&63)&(memoSlots-1)]
	if *memo>>1 == pair {
		return *memo&1 != 0
	}
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

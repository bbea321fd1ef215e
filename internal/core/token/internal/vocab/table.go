// Package vocab holds a byte-pair vocabulary as one flat blob of bytes that is
// used where it lies: nothing is parsed, copied or built when a program starts.
//
// A blob is a trie whose edges are eight bytes wide, kept in two hash tables.
// The first holds every prefix of at most eight bytes, keyed by the bytes
// themselves as a little-endian integer; the second holds what is longer, keyed
// by the last chunk of at most eight bytes and the node that the chunk follows.
// A token of n bytes is thus found in ⌈n/8⌉ probes, and most pieces of text are
// tokens of fewer than eight bytes: one probe.
//
// Every node carries a Value: the token's id, and what the encoder needs to walk
// and to check merges. Numbers are little-endian on every machine.
package vocab

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Value describes a node of the trie in 32 bits.
//
//	bits  0-17  id of the token that ends here, or none
//	bits 18-24  length in bytes of the left half of the token's last merge, 0 for a single byte
//	bits 25-31  gaps: bit 25+g-1 is set when a node lies g bytes further down
//	            the same chunk, for g in 1..7; the last bit stands for 7 and for 8
type Value uint32

const (
	idBits    = 18
	splitBits = 7
	gapShift  = idBits + splitBits
	none      = 1<<idBits - 1

	// Missing is the Value of bytes that are no node: no token, no gaps.
	Missing Value = none

	// NoID is what ID gives where there is no token.
	NoID = none

	// MaxToken is the length in bytes of the longest token either vocabulary has.
	MaxToken = 128
)

// IsToken reports whether a token ends at this node; other nodes are only
// prefixes of tokens.
func (v Value) IsToken() bool { return v&none != none }

// ID is the token's id, which is also its rank: merges of lower rank go first.
func (v Value) ID() uint32 { return uint32(v & none) }

// Split is the length in bytes of the left half of the token's last merge, or 0
// for a token of one byte.
func (v Value) Split() int { return int(v >> idBits & (1<<splitBits - 1)) }

// gaps has bit g-1 set when a longer node may lie g bytes further on.
func (v Value) gaps() uint32 {
	g := uint32(v >> gapShift)
	return g | g>>6<<7
}

// Layout of a blob: a header of two 64-bit slot counts, the values of the 256
// single bytes and of all pairs, a filter, the short table, the long table, and joins.
const (
	headerSize = 16
	bytesSize  = 256 * 4
	pairsSize  = 256 * bytesSize
	valueSize  = 4
	shortSize  = 12 // key 8, Value 4
	longSize   = 16 // chunk 8, link 4, Value 4
	spare      = 64 // slots after the last home slot, so that a probe never wraps
)

// hashMul spreads keys over 64 bits; it is 2^64 divided by the golden ratio,
// made odd (Knuth, The Art of Computer Programming, volume 3, 6.4).
const hashMul = 0x9E3779B97F4A7C15

// Table reads a blob. It is immutable and safe for concurrent use.
type Table struct {
	shortSlots, longSlots uint64
	bytes, pairs          []byte
	filter                []byte
	filterShift           uint8
	short, long           []byte
	joins                 *[joinSize]byte
}

// Open gives access to a blob written by Build. It only slices.
func Open(blob string) Table {
	// The slice is never written to.
	b := unsafe.Slice(unsafe.StringData(blob), len(blob))
	t := Table{
		shortSlots: binary.LittleEndian.Uint64(b),
		longSlots:  binary.LittleEndian.Uint64(b[8:]),
	}
	b = b[headerSize:]
	take := func(n uint64) []byte {
		part := b[:n:n]
		b = b[n:]
		return part
	}
	t.bytes = take(bytesSize)
	t.pairs = take(pairsSize)
	t.filter = take(filterSize(t.shortSlots))
	t.filterShift = 61 - uint8(bits.TrailingZeros64(filterSize(t.shortSlots)))
	t.short = take((t.shortSlots + spare) * shortSize)
	t.long = take((t.longSlots + spare) * longSize)
	t.joins = (*[joinSize]byte)(b)
	return t
}

// Mask keeps the low n bytes of a key, n from 1 to 8.
func Mask(n int) uint64 { return ^uint64(0) >> ((64 - 8*uint(n)) & 63) }

// filterSize is the length in bytes of the filter, a power of two that gives each
// slot of the short table eight bits or more.
func filterSize(shortSlots uint64) uint64 { return 1 << bits.Len64(shortSlots*2/3) }

// home is the slot where the search for a hash begins.
func home(hash, slots uint64) uint64 {
	slot, _ := bits.Mul64(hash, slots)
	return slot
}

// Short finds the node of a string of 1 to 8 bytes that does not end in NUL. The
// key holds those bytes, first byte lowest, zeros above. ok is false when there
// is no such node; a node of fewer than 8 bytes is always a token.
func (t *Table) Short(key uint64) (slot uint64, ok bool) {
	slot = home(key*hashMul, t.shortSlots)
	for {
		switch binary.LittleEndian.Uint64(t.short[slot*shortSize:]) {
		case key:
			return slot, true
		case 0:
			return 0, false
		}
		slot++
	}
}

// ShortValue is the Value at a slot that Short found.
func (t *Table) ShortValue(slot uint64) Value {
	return Value(binary.LittleEndian.Uint32(t.short[slot*shortSize+8:]))
}

// A link names the node above a chunk; its low four bits are free for the length
// of the chunk, which tells one that ends in NUL from a shorter one. It is never
// zero.
func shortLink(slot uint64) uint32 { return uint32(slot+1) << 4 }
func (t *Table) longLink(slot uint64) uint32 {
	return uint32(slot+t.shortSlots+spare+1) << 4
}

// rootLink is the link of a string of at most 8 bytes that ends in NUL, which
// the short table cannot tell from the string without it.
func rootLink(n int) uint32 { return 1<<32 - 16 | uint32(n) }

func longHash(chunk uint64, link uint32) uint64 {
	h := (chunk ^ uint64(link)<<29) * hashMul
	return (h ^ h>>32) * hashMul
}

// findLong finds the node of a chunk in the long table.
func (t *Table) findLong(chunk uint64, link uint32) (slot uint64, v Value) {
	slot = home(longHash(chunk, link), t.longSlots)
	for {
		entry := t.long[slot*longSize:][:longSize]
		switch l := binary.LittleEndian.Uint32(entry[8:]); {
		case l == link && binary.LittleEndian.Uint64(entry) == chunk:
			return slot, Value(binary.LittleEndian.Uint32(entry[12:]))
		case l == 0:
			return 0, Missing
		}
		slot++
	}
}

// Load reads n bytes (1 to 8) at b[at:] as a key: first byte lowest, zeros above.
func Load(b []byte, at, n int) uint64 {
	if at+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[at:]) & Mask(n)
	}
	return LoadTail(b, at) & Mask(n)
}

// LoadTail is Load of 8 bytes where fewer are left: zeros stand for the missing.
func LoadTail(b []byte, at int) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b[len(b)-8:]) >> (8 * uint(8-(len(b)-at)))
	}
	var key uint64
	for i := len(b) - 1; i >= at; i-- {
		key = key<<8 | uint64(b[i])
	}
	return key
}

// Find is the Value of the node for b[from:to], or Missing. The string must not
// be empty.
func (t *Table) Find(b []byte, from, to int) Value {
	n := to - from
	if n <= 8 {
		return t.Chunk(Load(b, from, n), n)
	}
	if n > MaxToken {
		return Missing
	}
	slot, ok := t.Short(Load(b, from, 8))
	if !ok {
		return Missing
	}
	link := shortLink(slot)
	for {
		from, n = from+8, n-8
		k := min(n, 8)
		slot, v := t.findLong(Load(b, from, k), link|uint32(k))
		if v == Missing || k == n {
			return v
		}
		link = t.longLink(slot)
	}
}

// Chunk is the Value of the node for a string of n bytes, 1 to 8, as a key: first
// byte lowest, zeros above.
func (t *Table) Chunk(key uint64, n int) Value {
	if key>>(8*uint(n-1)) == 0 {
		if n == 1 {
			return t.Byte(0)
		}
		_, v := t.findLong(key, rootLink(n))
		return v
	}
	hash := key * hashMul
	if bit := hash >> (t.filterShift & 63); t.filter[bit>>3]>>(bit&7)&1 == 0 {
		return Missing
	}
	slot, ok := t.Short(key)
	if !ok {
		return Missing
	}
	return t.ShortValue(slot)
}

// Byte is the Value of the token of one byte.
func (t *Table) Byte(c byte) Value {
	return Value(binary.LittleEndian.Uint32(t.bytes[int(c)*valueSize:]))
}

// Pair is the Value of the two bytes at b[at:], or Missing.
func (t *Table) Pair(b []byte, at int) Value {
	return Value(binary.LittleEndian.Uint32(t.pairs[int(binary.LittleEndian.Uint16(b[at:]))*valueSize:]))
}

// Prefix is a token that a text begins with: its length in bytes and its Value.
type Prefix struct {
	Len   int
	Value Value
}

// Prefixes appends every token that b[at:] begins with to buf, shortest first.
// There is always one: each byte is a token.
func (t *Table) Prefixes(b []byte, at int, buf []Prefix) []Prefix {
	left := min(len(b)-at, MaxToken)
	v := t.Byte(b[at])
	buf = append(buf, Prefix{1, v})
	// The node whose Value is v lies n bytes into the chunk that starts at base and
	// hangs from link.
	base, n, link := 0, 1, uint32(0)
	for gaps := v.gaps(); gaps != 0; {
		k := n + bits.TrailingZeros32(gaps) + 1
		if k > 8 || base+k > left {
			break
		}
		gaps &= gaps - 1
		key := Load(b, at+base, k)
		slot, next := uint64(0), Missing
		if base > 0 {
			slot, next = t.findLong(key, link|uint32(k))
		} else {
			next = t.Chunk(key, k)
		}
		if next == Missing {
			continue
		}
		n, gaps = k, next.gaps()
		if next.IsToken() {
			buf = append(buf, Prefix{base + n, next})
		}
		if n == 8 {
			if base > 0 {
				link = t.longLink(slot)
			} else {
				slot, _ = t.Short(key)
				link = shortLink(slot)
			}
			base, n = base+8, 0
		}
	}
	return buf
}

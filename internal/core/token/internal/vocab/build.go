package vocab

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Load factors of the two tables. Fuller tables are smaller and probe longer; at
// these, the two vocabularies together stay below 7 MB.
const (
	shortLoad = 0.66
	longLoad  = 0.70
)

// Build lays a vocabulary out as a blob. ranks maps a token's bytes to its rank;
// ranks 0 to 255 must be the single bytes. The same ranks give the same blob.
func Build(ranks map[string]int) ([]byte, error) {
	values, err := trie(ranks)
	if err != nil {
		return nil, err
	}
	// Lowest ranks first: frequent tokens then sit in their home slots.
	var nodes []string
	for s := range values {
		nodes = append(nodes, s)
	}
	slices.SortFunc(nodes, func(a, b string) int {
		return cmp.Or(cmp.Compare(values[a].ID(), values[b].ID()), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	shorts, longs := 0, 0
	for _, s := range nodes {
		if inShort(s) {
			shorts++
		} else {
			longs++
		}
	}
	shortSlots := uint64(float64(shorts) / shortLoad)
	longSlots := uint64(float64(longs) / longLoad)

	size := headerSize + bytesSize + pairsSize + filterSize(shortSlots) + (shortSlots+spare)*shortSize + (longSlots+spare)*longSize + joinSize
	blob := make([]byte, size)
	binary.LittleEndian.PutUint64(blob, shortSlots)
	binary.LittleEndian.PutUint64(blob[8:], longSlots)
	t := Open(string(blob)) // for the offsets only: it reads a copy
	at := blob[headerSize:]
	bytes, at := at[:len(t.bytes)], at[len(t.bytes):]
	pairs, at := at[:len(t.pairs)], at[len(t.pairs):]
	filter, at := at[:len(t.filter)], at[len(t.filter):]
	table, at := at[:len(t.short)], at[len(t.short):]
	long, joins := at[:len(t.long)], at[len(t.long):]
	setJoins(joins, slices.Collect(maps.Keys(ranks)))
	for c := range 256 {
		binary.LittleEndian.PutUint32(bytes[c*valueSize:], uint32(values[string([]byte{byte(c)})]))
	}
	for pair := range 256 * 256 {
		v, ok := values[string([]byte{byte(pair), byte(pair >> 8)})]
		if !ok {
			v = Missing
		}
		binary.LittleEndian.PutUint32(pairs[pair*valueSize:], uint32(v))
	}
	for _, s := range nodes {
		if !inShort(s) {
			continue
		}
		key := LoadTail([]byte(s), 0)
		slot := home(key*hashMul, shortSlots)
		for binary.LittleEndian.Uint64(table[slot*shortSize:]) != 0 {
			if slot++; slot >= shortSlots+spare-1 {
				return nil, fmt.Errorf("short table overflows at %q", s)
			}
		}
		binary.LittleEndian.PutUint64(table[slot*shortSize:], key)
		binary.LittleEndian.PutUint32(table[slot*shortSize+8:], uint32(values[s]))
		bit := key * hashMul >> t.filterShift
		filter[bit>>3] |= 1 << (bit & 7)
	}
	// A chunk's link holds the slot of the chunk above, so place those first.
	slices.SortStableFunc(nodes, func(a, b string) int { return cmp.Compare((len(a)-1)/8, (len(b)-1)/8) })
	placed := Table{shortSlots: shortSlots, longSlots: longSlots, short: table, long: long}
	for _, s := range nodes {
		if inShort(s) {
			continue
		}
		chunk, link := placed.place(s)
		slot := home(longHash(chunk, link), longSlots)
		for binary.LittleEndian.Uint32(long[slot*longSize+8:]) != 0 {
			if slot++; slot >= longSlots+spare-1 {
				return nil, fmt.Errorf("long table overflows at %q", s)
			}
		}
		binary.LittleEndian.PutUint64(long[slot*longSize:], chunk)
		binary.LittleEndian.PutUint32(long[slot*longSize+8:], link)
		binary.LittleEndian.PutUint32(long[slot*longSize+12:], uint32(values[s]))
	}
	return blob, nil
}

// inShort reports whether a node lives in the short table.
func inShort(s string) bool { return len(s) <= 8 && s[len(s)-1] != 0 }

// place is the last chunk of a long node and the link to the node above it,
// which must be in the tables already.
func (t *Table) place(s string) (chunk uint64, link uint32) {
	if len(s) <= 8 {
		return LoadTail([]byte(s), 0), rootLink(len(s))
	}
	b := []byte(s)
	slot, _ := t.Short(Load(b, 0, 8))
	link = shortLink(slot)
	at := 8
	for ; len(s)-at > 8; at += 8 {
		slot, _ := t.findLong(Load(b, at, 8), link|8)
		link = t.longLink(slot)
	}
	n := len(s) - at
	return Load(b, at, n), link | uint32(n)
}

// trie gives the Value of every node: the tokens, and the prefixes of whole
// chunks that longer tokens hang from.
func trie(ranks map[string]int) (map[string]Value, error) {
	values := make(map[string]Value, len(ranks))
	for token, rank := range ranks {
		switch {
		case len(token) == 0 || len(token) > MaxToken:
			return nil, fmt.Errorf("token %d has %d bytes: 1 to %d are allowed", rank, len(token), MaxToken)
		case rank < 0 || rank >= none:
			return nil, fmt.Errorf("token %q has rank %d: 0 to %d are allowed", token, rank, none-1)
		case (len(token) == 1) != (rank < 256):
			return nil, fmt.Errorf("token %q has rank %d: 0 to 255 are the single bytes", token, rank)
		}
		split, err := lastMerge(token, ranks)
		if err != nil {
			return nil, err
		}
		values[token] = Value(rank | split<<idBits)
		for n := 8; n < len(token); n += 8 {
			if _, ok := ranks[token[:n]]; !ok {
				if token[n-1] == 0 {
					return nil, fmt.Errorf("token %q has a chunk that ends in NUL", token)
				}
				values[token[:n]] = none
			}
		}
	}
	for s := range values {
		// The nearest node above s in the same chunk; a chunk's first bytes hang
		// from the end of the chunk before.
		start := (len(s) - 1) / 8 * 8
		for n := len(s) - 1; n >= max(start, 1); n-- {
			if v, ok := values[s[:n]]; ok {
				values[s[:n]] = v | 1<<(gapShift+min(len(s)-n, 7)-1)
				break
			}
		}
	}
	return values, nil
}

// lastMerge encodes a token's own bytes by the rules of byte-pair encoding and
// gives the length of the left half of the merge that completes it, 0 for a
// single byte. A token that its own bytes do not merge to is an error: the
// encoder relies on there being none.
func lastMerge(token string, ranks map[string]int) (int, error) {
	ends := make([]int, len(token)+1) // ends[0] = 0, then the end of each part
	for i := range ends {
		ends[i] = i
	}
	split := 0
	for len(ends) > 2 {
		best, at := math.MaxInt, -1
		for i := 1; i+1 < len(ends); i++ {
			if r, ok := ranks[token[ends[i-1]:ends[i+1]]]; ok && r < best {
				best, at = r, i
			}
		}
		if at < 0 {
			return 0, fmt.Errorf("token %q is not reached by merging", token)
		}
		split = ends[at]
		ends = slices.Delete(ends, at, at+1)
	}
	return split, nil
}

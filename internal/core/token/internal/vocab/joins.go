package vocab

import "unicode/utf8"

// Where no token can reach across the border of two characters, no merge crosses
// it either, and a text can be cut there without changing its encoding. joins is
// the set of borders that some token reaches across, as a Bloom filter with one
// hash: a wrong yes only means that a cut is missed.
//
// A border is known by the two characters beside it, or, where a token begins in
// the middle of the first one, by that one's last byte and the second one.
const (
	joinBits = 18
	joinSize = 1 << joinBits / 8
	byLast   = 1 << 42 // tells a last byte from a character
)

// MayJoin reports whether some token may reach across the border between two
// characters of valid UTF-8 that are not both ASCII: left, whose last byte is
// given, and right.
func (t *Table) MayJoin(left, right rune, last byte) bool {
	at := joinHash(uint64(left), right)
	if t.joins[at>>3]>>(at&7)&1 != 0 || left == ' ' {
		return true
	}
	at = joinHash(byLast|uint64(last), right)
	return t.joins[at>>3]>>(at&7)&1 != 0
}

func joinHash(left uint64, right rune) uint64 {
	return (left<<21 | uint64(right)) * hashMul >> (64 - joinBits)
}

// setJoins fills the set with every border inside a token. A blank is left out,
// since so many tokens begin with one: MayJoin knows.
func setJoins(set []byte, tokens []string) {
	put := func(left uint64, right rune) {
		at := joinHash(left, right)
		set[at>>3] |= 1 << (at & 7)
	}
	for _, token := range tokens {
		for i := 1; i < len(token); i++ {
			if !utf8.RuneStart(token[i]) {
				continue
			}
			from := i - 1
			for from > 0 && !utf8.RuneStart(token[from]) {
				from--
			}
			c, n := utf8.DecodeRuneInString(token[from:i])
			left := uint64(c)
			switch {
			case n < i-from || c == utf8.RuneError && n == 1:
				left = byLast | uint64(token[i-1])
			case c == ' ':
				continue
			}
			for _, right := range begins(token[i:]) {
				put(left, right)
			}
		}
	}
}

// begins is the character that s begins with, or where s ends within it, each one
// that it could be.
func begins(s string) []rune {
	if utf8.FullRuneInString(s) {
		c, _ := utf8.DecodeRuneInString(s)
		return []rune{c}
	}
	n := 2
	switch {
	case s[0] >= 0xf0:
		n = 4
	case s[0] >= 0xe0:
		n = 3
	}
	starts := []string{s}
	for range n - len(s) {
		var longer []string
		for _, start := range starts {
			for c := byte(0x80); c < 0xc0; c++ {
				longer = append(longer, start+string([]byte{c}))
			}
		}
		starts = longer
	}
	var all []rune
	for _, start := range starts {
		if c, size := utf8.DecodeRuneInString(start); size == n {
			all = append(all, c)
		}
	}
	return all
}

package token

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// checkBlocks compares the starts of pieces in each block with pieceEnd, the patterns written out, for every block that
// begins with a piece.
func checkBlocks(t *testing.T, e *Encoding, text []byte) {
	t.Helper()
	for p := 0; p < len(text); p = e.pieceEnd(text, p) {
		var b block
		n := min(copy(b[:], text[p:]), 64)
		starts := e.starts(&b, n, false)
		if vectors() && e.starts(&b, n, true) != starts {
			t.Fatalf("%s: pieces of %q begin at %b with vectors, %b without", e.name, b[:n], e.starts(&b, n, true), starts)
		}
		var got, want []int
		for q := range 64 {
			if starts>>q&1 != 0 {
				got = append(got, q)
			}
		}
		for q := e.pieceEnd(text, p); len(want) < len(got); q = e.pieceEnd(text, q) {
			want = append(want, q-p)
			if q == len(text) {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: pieces of %q begin at %v, want %v", e.name, b[:n], got, want)
		}
	}
}

// Few different bytes at a time, so that every combination of neighbors in the patterns occurs.
func TestBlocks(t *testing.T) {
	atoms := []string{"a", "s", "t", "l", "re", "S", "LL", "Z", "1", "23456", " ", " ", "  ", "\t", "\n", "\r", "'", "'", "'", "/", "//", ".", "_", "@", "[", "`", "{", ":", "\x00", "\x1c", "\x7f", "\v", "\f", "é", "Ж", "中", "É", "ǅ", "ʰ", "𝒳", "\u00a0", "\u0301", "\ufe0f", "\u2028", "\u3000", "٣", "’", "。", "😀"}
	random := rand.New(rand.NewPCG(7, 8))
	for range 100_000 {
		some := make([]string, 1+random.IntN(6))
		for i := range some {
			some[i] = atoms[random.IntN(len(atoms))]
		}
		var text strings.Builder
		for range random.IntN(100) {
			text.WriteString(some[random.IntN(len(some))])
		}
		checkBlocks(t, cl100k, []byte(text.String()))
		checkBlocks(t, o200k, []byte(text.String()))
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add("func (s *Server) don't(x'Ll int) {\r\n\t// HTTPServer's 12345\n\n}\n")
	f.Fuzz(func(t *testing.T, text string) {
		checkBlocks(t, cl100k, wellFormed([]byte(text)))
		checkBlocks(t, o200k, wellFormed([]byte(text)))
	})
}

// Both ways to read a block give the same result.
func TestSets(t *testing.T) {
	if !vectors() {
		t.Skip("this processor has one way only")
	}
	random := rand.New(rand.NewPCG(9, 10))
	check := func(b *block) {
		var want, got sets
		want.fill(b)
		setsAVX2(b, &got)
		mask := ^want.beyond // on other systems the others return nothing
		for _, s := range []*sets{&want, &got} {
			for _, set := range []*uint64{&s.letter, &s.upper, &s.digit, &s.space, &s.newline, &s.blank, &s.quote, &s.slash} {
				*set &= mask
			}
		}
		if got != want {
			t.Fatalf("%q: %+v, want %+v", b[:64], got, want)
		}
	}
	var b block
	for c := range 256 {
		for i := range b {
			b[i] = byte(c + i)
		}
		check(&b)
	}
	for range 10_000 {
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		check(&b)
	}
}

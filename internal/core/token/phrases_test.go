package token

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// What get finds is what was put, also after the text was full several times.
func TestPhrases(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	s := new(phrases)
	put, found := map[string]int{}, 0
	for range 50_000 {
		piece := strings.Repeat(string(rune('a'+random.IntN(26))), 15) + strings.Repeat(string(rune('a'+random.IntN(26))), 1+random.IntN(maxPhrase-15))
		hash := phraseHash([]byte(piece))
		switch tokens := s.get(hash, []byte(piece)); {
		case tokens == 0:
			put[piece] = 1 + random.IntN(255)
			s.put(hash, []byte(piece), put[piece])
			if got := s.get(hash, []byte(piece)); got != put[piece] {
				t.Fatalf("get(%q) = %d after put of %d", piece, got, put[piece])
			}
		case tokens != put[piece]:
			t.Fatalf("get(%q) = %d, put was %d", piece, tokens, put[piece])
		default:
			found++
		}
	}
	if found < 100 {
		t.Fatalf("%d of 50,000 were found again: the test tests nothing", found)
	}
}

// A piece is not taken for one of the same hash and length: not where both lie, and not where its bytes have replaced
// those of the other.
func TestPhrasesOfOneHash(t *testing.T) {
	s := new(phrases)
	first, second := []byte(strings.Repeat("a", maxPhrase)), []byte(strings.Repeat("b", maxPhrase))
	const hash, another = 0x123456789abcdef0, 0xfedcba9876543210
	s.put(hash, first, 7)
	if got := s.get(hash, second); got != 0 {
		t.Errorf("before: get of another piece with the same hash = %d, want 0", got)
	}
	for s.used != maxPhrase || string(s.text[:1]) != "b" {
		s.put(another, second, 9)
	}
	if got := s.get(hash, second); got != 0 {
		t.Errorf("after the text was full: get of another piece with the same hash = %d, want 0", got)
	}
}

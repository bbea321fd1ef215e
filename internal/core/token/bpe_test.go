package token

import (
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// A long piece has as many tokens where only its last few hundred bytes are remembered as where all are, unless it has to go back
// further, which it must say.
func TestForget(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	atoms := []string{"a", "b", "e", "in", "the", "ing", "=", "-", "=-", "--------", " ", "        ", "\n", "\x00", "中", "文字", "😀", "\u0301", "A", "0", "zq", "ﷺ"}
	for _, e := range []*Encoding{cl100k, o200k} {
		for range 1_000 {
			some := make([]string, 1+random.IntN(4))
			for i := range some {
				some[i] = atoms[random.IntN(len(atoms))]
			}
			var text strings.Builder
			for n := 300 + random.IntN(3_000); text.Len() < n; {
				text.WriteString(some[random.IntN(len(some))])
			}
			count := func(keep int) (tokens int, ok bool) {
				m := e.newScratch(text.Len()).merges
				tokens, ok = m.encodeLong([]byte(text.String()), keep)
				for _, word := range m.starts {
					tokens += bits.OnesCount64(word)
				}
				return tokens, ok
			}
			want, ok := count(text.Len())
			if !ok {
				t.Fatalf("%s: %q: goes back beyond the beginning", e.name, text.String())
			}
			if got, ok := count(64); ok && got != want {
				t.Fatalf("%s: %q: %d tokens, %d if all is remembered", e.name, text.String(), got, want)
			}
		}
	}
}

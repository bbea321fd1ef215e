package token_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/token"
)

// recorded is the output of OpenAI's own tiktoken, written by internal/gen/record.py.
type recorded struct {
	contexts, atoms []string
	characters      []sums // of 1,024 characters each, by their first
	strings         []sums // of 1,000 random strings each
}

// sums are the checksums of numbers of tokens, by encoding in the order of names.
type sums struct {
	from int
	want [2]uint32
}

func readRecorded(t *testing.T) (r recorded) {
	data, err := os.ReadFile("testdata/tiktoken.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		kind, rest, _ := strings.Cut(line, " ")
		var s sums
		var text string
		switch kind {
		case "#":
		case "context", "atom":
			err = json.Unmarshal([]byte(rest), &text)
			if kind == "atom" {
				r.atoms = append(r.atoms, text)
			} else {
				r.contexts = append(r.contexts, text)
			}
		case "characters":
			_, err = fmt.Sscanf(rest, "%x %x %x", &s.from, &s.want[0], &s.want[1])
			r.characters = append(r.characters, s)
		case "strings":
			_, err = fmt.Sscanf(rest, "%d %x %x", &s.from, &s.want[0], &s.want[1])
			r.strings = append(r.strings, s)
		default:
			err = fmt.Errorf("unknown kind %q", kind)
		}
		if err != nil {
			t.Fatalf("testdata/tiktoken.txt: %q: %v", line, err)
		}
	}
	return r
}

// check compares our numbers of tokens of texts with the recorded ones.
func (s sums) check(t *testing.T, texts []string) {
	t.Helper()
	for i, name := range names {
		e := get(t, name)
		if got := checksum(e, texts); got != s.want[i] {
			t.Errorf("%s: %d texts from %q on have other numbers of tokens than tiktoken gives: checksum %08x, want %08x", name, len(texts), texts[0], got, s.want[i])
		}
	}
}

func checksum(e *token.Encoding, texts []string) uint32 {
	counts := make([]byte, 0, 2*len(texts))
	for _, text := range texts {
		counts = binary.LittleEndian.AppendUint16(counts, uint16(e.Count(text)))
	}
	return crc32.ChecksumIEEE(counts)
}

// Every character, in contexts that show its class, has the same count as in tiktoken. This includes characters that are
// too new for every Go library.
func TestEveryCharacterAsTiktoken(t *testing.T) {
	r := readRecorded(t)
	if len(r.characters) != (0x110000-0x800)/0x400 || len(r.contexts) < 10 {
		t.Fatalf("%d blocks of characters and %d contexts are recorded", len(r.characters), len(r.contexts))
	}
	for _, s := range r.characters {
		var texts []string
		for c := rune(s.from); c < rune(s.from)+0x400; c++ {
			for _, context := range r.contexts {
				texts = append(texts, strings.ReplaceAll(context, "%", string(c)))
			}
		}
		s.check(t, texts)
	}
}

// 100,000 random strings of characters of every class.
func TestRandomStringsAsTiktoken(t *testing.T) {
	r := readRecorded(t)
	if len(r.strings) != 100 || len(r.atoms) < 50 {
		t.Fatalf("%d blocks of strings and %d atoms are recorded", len(r.strings), len(r.atoms))
	}
	state := uint64(1) // splitmix64, as in record.py
	below := func(n int) int {
		state += 0x9E3779B97F4A7C15
		z := state
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		return int((z ^ z>>31) % uint64(n))
	}
	for _, s := range r.strings {
		var texts []string
		for range 1000 {
			some := make([]string, 1+below(4))
			for i := range some {
				some[i] = r.atoms[below(len(r.atoms))]
			}
			var text strings.Builder
			for range 1 + below(12) {
				text.WriteString(some[below(len(some))])
			}
			texts = append(texts, text.String())
		}
		s.check(t, texts)
	}
}

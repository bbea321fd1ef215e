package vocab

import (
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A small vocabulary with what is difficult: tokens that end in NUL, tokens of
// several chunks, chunks that are no tokens.
func small(t *testing.T) (map[string]int, Table) {
	ranks := map[string]int{}
	for c := range 256 {
		ranks[string([]byte{byte(c)})] = c
	}
	add := func(tokens ...string) {
		for _, token := range tokens {
			ranks[token] = len(ranks)
		}
	}
	add("\x00\x00", "a\x00", "ab", "abc", "abcd")
	// Doubling makes tokens of up to 128 bytes; each is reached by merging.
	for n := 2; n <= MaxToken; n *= 2 {
		add(strings.Repeat("=", n))
	}
	for n := 2; n <= 40; n++ { // "x", "xy", "xyz", ... one byte at a time
		add(letters[:n])
	}
	blob, err := Build(ranks)
	if err != nil {
		t.Fatal(err)
	}
	return ranks, Open(string(blob))
}

const letters = "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA"

func TestFind(t *testing.T) {
	ranks, table := small(t)
	check := func(s string) {
		v := table.Find([]byte("<"+s+">"), 1, 1+len(s))
		rank, ok := ranks[s]
		if v.IsToken() != ok || ok && v.ID() != uint32(rank) {
			t.Errorf("Find(%q) = token %v, id %d; want %v, %d", s, v.IsToken(), v.ID(), ok, rank)
		}
	}
	for s := range ranks {
		check(s)
		for _, r := range []string{"\x00", "=", "a", letters} {
			check(s + r)
		}
		for n := 1; n < len(s); n++ {
			check(s[:n])
			check(s[n:])
		}
	}
}

func TestPrefixes(t *testing.T) {
	ranks, table := small(t)
	atoms := []string{"=", "==", "a", "b\x00", "\x00", "abcd", strings.Repeat("=", 60), letters, letters[:9], letters[:17]}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(atoms), 1, 8).Draw(t, "text"), "")
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		prefixes := table.Prefixes([]byte(text), at, nil)
		for n := 1; n <= len(text)-at; n++ {
			rank, ok := ranks[text[at:at+n]]
			if !ok {
				continue
			}
			if len(prefixes) == 0 || prefixes[0].Len != n || prefixes[0].Value.ID() != uint32(rank) {
				t.Fatalf("token %q of %q is missing from %v", text[at:at+n], text[at:], prefixes)
			}
			prefixes = prefixes[1:]
		}
		if len(prefixes) > 0 {
			t.Fatalf("%q does not begin with %v", text[at:], prefixes)
		}
	})
}

func TestPair(t *testing.T) {
	_, table := small(t)
	for pair := range 1 << 16 {
		b := []byte{byte(pair), byte(pair >> 8)}
		if got, want := table.Pair(b, 0), table.Find(b, 0, 2); got.IsToken() != want.IsToken() || got.ID() != want.ID() {
			t.Errorf("Pair(%q) = %v, Find has %v", b, got, want)
		}
	}
}

// Load gives the same wherever the text ends.
func TestLoad(t *testing.T) {
	text := make([]byte, 24)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	for end := 1; end <= len(text); end++ {
		for at := range end {
			for n := 1; n <= min(8, end-at); n++ {
				var want uint64
				for i := n - 1; i >= 0; i-- {
					want = want<<8 | uint64(text[at+i])
				}
				if got := Load(text[:end:end], at, n); got != want {
					t.Fatalf("Load(text[:%d], %d, %d) = %x, want %x", end, at, n, got, want)
				}
			}
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	with := func(token string, rank int) map[string]int {
		ranks := map[string]int{}
		for c := range 256 {
			ranks[string([]byte{byte(c)})] = c
		}
		ranks[token] = rank
		return ranks
	}
	for _, test := range []struct {
		ranks map[string]int
		want  string
	}{
		{with(strings.Repeat("a", 129), 256), "129 bytes"},
		{with("", 256), "0 bytes"},
		{with("ab", 1<<18-1), "rank 262143"},
		{with("ab", 7), "single bytes"},
		{with("abc", 256), "not reached by merging"},
	} {
		if _, err := Build(test.ranks); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Build: %v, want an error about %q", err, test.want)
		}
	}
}

// Every border inside a token is one that a token reaches across, also where the
// token has only a part of the characters beside it.
func TestMayJoin(t *testing.T) {
	ranks := map[string]int{}
	for c := range 256 {
		ranks[string([]byte{byte(c)})] = c
	}
	for _, token := range []string{"中", "中国", "é", "éa", "\xad人", "中\xe5", "\xad\xe5", "-é"} {
		for n := 2; n <= len(token); n++ { // each is reached by merging
			if _, ok := ranks[token[:n]]; !ok {
				ranks[token[:n]] = len(ranks)
			}
		}
	}
	blob, err := Build(ranks)
	if err != nil {
		t.Fatal(err)
	}
	table := Open(string(blob))
	for _, test := range []struct {
		text string
		want bool
	}{
		{"中国", true}, {"éa", true}, {"-é", true}, {"中人", true}, {"中刀", true}, {"中加", true}, {" 国", true},
		{"国中", false}, {"aé", false}, {"éé", false}, {"国人", false}, {"人国", false}, {"人é", false},
	} {
		c := []rune(test.text)
		first := string(c[0])
		if got := table.MayJoin(c[0], c[1], first[len(first)-1]); got != test.want {
			t.Errorf("MayJoin in %q = %v, want %v", test.text, got, test.want)
		}
	}
}

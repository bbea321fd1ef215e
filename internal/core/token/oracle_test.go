package token_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// names of the encodings under test.
var names = []string{token.Cl100k, token.O200k}

// oracle is tiktoken-go with its offline vocabularies, loaded once: cl100k_base
// takes about 0.1 s, o200k_base twice that.
var oracle = sync.OnceValue(func() map[string]*tiktoken.Tiktoken {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	encodings := map[string]*tiktoken.Tiktoken{}
	for _, name := range names {
		encoding, err := tiktoken.GetEncoding(name)
		if err != nil {
			panic(err)
		}
		encodings[name] = encoding
	}
	return encodings
})

// tb has the methods that testing.TB and rapid.T share and that tests here need.
type tb interface {
	Helper()
	Error(args ...any)
	Fatal(args ...any)
}

func get(tb tb, name string) *token.Encoding {
	tb.Helper()
	e, err := token.Get(name)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// differs returns the difference between our encoding of text and tiktoken-go's, or "". It compares IDs as well as
// counts, since a count alone can agree by accident. It ignores texts with characters that Go's Unicode tables lack,
// since tiktoken-go treats them as punctuation: see TestEveryCharacterAsTiktoken.
func differs(tb tb, name, text string) string {
	tb.Helper()
	if strings.ContainsFunc(text, isNew) {
		return ""
	}
	e := get(tb, name)
	var want []uint32
	for _, id := range oracle()[name].EncodeOrdinary(text) {
		want = append(want, uint32(id))
	}
	got := e.Encode(text)
	if !slices.Equal(got, want) {
		at := 0
		for at < len(got) && at < len(want) && got[at] == want[at] {
			at++
		}
		window := func(ids []uint32) []uint32 { return ids[max(0, min(at-1, len(ids))):min(at+6, len(ids))] }
		return fmt.Sprintf("%s: %s: %d ids, tiktoken-go has %d; from id %d on: got %v, want %v",
			name, quote(text), len(got), len(want), max(0, at-1), window(got), window(want))
	}
	if n := e.Count(text); n != len(want) {
		return fmt.Sprintf("%s: %s: Count is %d, want %d", name, quote(text), n, len(want))
	}
	if n := e.CountBytes([]byte(text)); n != len(want) {
		return fmt.Sprintf("%s: %s: CountBytes is %d, want %d", name, quote(text), n, len(want))
	}
	return ""
}

// isNew reports whether Go's Unicode tables lack the character r.
func isNew(r rune) bool {
	return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co)
}

// same fails the test unless both encodings agree with tiktoken-go on text.
func same(tb tb, text string) {
	tb.Helper()
	for _, name := range names {
		if diff := differs(tb, name, text); diff != "" {
			tb.Error(diff)
		}
	}
}

func quote(text string) string {
	if len(text) > 200 {
		return fmt.Sprintf("%.200q... (%d bytes)", text, len(text))
	}
	return fmt.Sprintf("%q", text)
}

// tokens returns the bytes of every token of an encoding, in the order of their ids.
func tokens(tb tb, name string) []string {
	tb.Helper()
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(name + ".tiktoken")
	if err != nil {
		tb.Fatal(err)
	}
	all := make([]string, len(ranks))
	for token, rank := range ranks {
		all[rank] = token
	}
	return all
}

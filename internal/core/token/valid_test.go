package token

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func checkValid(t *testing.T, text string) {
	t.Helper()
	if got, want := valid([]byte(text), vectors()), utf8.ValidString(text); got != want {
		t.Fatalf("valid(%q) = %t, want %t", text, got, want)
	}
}

// Four bytes across a border of 32 bytes, each at every limit that UTF-8 has for it; then random texts with an error or two.
func TestValid(t *testing.T) {
	if !vectors() {
		t.Skip("this processor has utf8.Valid only")
	}
	spaces := strings.Repeat(" ", 96)
	edges := []byte{0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff}
	for first := range 256 {
		for _, second := range edges {
			for _, third := range edges {
				for _, fourth := range edges {
					char := string([]byte{byte(first), second, third, fourth})
					checkValid(t, spaces[:29]+char+spaces[:40])
				}
			}
		}
	}
	random := rand.New(rand.NewPCG(13, 14))
	letters := []rune("aé中😀\u0301\uffff\U0010ffff")
	for range 20_000 {
		var b strings.Builder
		for range random.IntN(60) {
			b.WriteRune(letters[random.IntN(len(letters))])
		}
		text := []byte(b.String())
		for range random.IntN(3) {
			if len(text) > 0 {
				text[random.IntN(len(text))] = byte(random.Uint32())
			}
		}
		text = text[:len(text)-random.IntN(min(len(text)+1, 4))]
		checkValid(t, string(text))
	}
}

func FuzzValid(f *testing.F) {
	f.Add("func (s *Server) 中文 é 😀 \xe4\xb8 and what comes after, which is longer than a vector")
	f.Fuzz(func(t *testing.T, text string) {
		checkValid(t, text)
		checkValid(t, strings.Repeat(" ", 31)+text+strings.Repeat(" ", 40))
	})
}

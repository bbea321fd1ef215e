package class

import (
	"testing"
	"unicode"
)

// Where Go's Unicode tables, which are older, know a character, the table agrees.
// The exceptions changed their class since. (That the table is tiktoken's, for all
// characters, is tested with its counts in package token.)
func TestOf(t *testing.T) {
	changed := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		var want Class
		switch {
		case r == '\r' || r == '\n':
			want = Space | Newline
		case unicode.IsSpace(r):
			want = Space
		case unicode.In(r, unicode.Lu, unicode.Lt):
			want = Upper
		case unicode.Is(unicode.Ll, r):
			want = Lower
		case unicode.In(r, unicode.Lm, unicode.Lo):
			want = OtherLetter
		case unicode.Is(unicode.M, r):
			want = Mark
		case unicode.Is(unicode.N, r):
			want = Number
		case !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.P, unicode.S):
			continue // unknown
		}
		if got := Of(r); got != want {
			t.Logf("Of(%U) = %b, Go has %b", r, got, want)
			changed++
		}
	}
	if changed > 10 {
		t.Errorf("%d characters have another class than in Unicode %s", changed, unicode.Version)
	}
}

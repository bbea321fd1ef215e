package class

import (
	"testing"
	"unicode"
)

// The table agrees with the Unicode version of the Go that builds this, which is
// the one that tiktoken-go's regular expressions use. A newer Go may bring newer
// tables: then run go generate in internal/core/token.
func TestOf(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		var want Class
		if unicode.In(r, unicode.Lu, unicode.Lt) {
			want |= Upper
		}
		if unicode.Is(unicode.Ll, r) {
			want |= Lower
		}
		if unicode.In(r, unicode.Lm, unicode.Lo) {
			want |= OtherLetter
		}
		if unicode.Is(unicode.M, r) {
			want |= Mark
		}
		if unicode.Is(unicode.N, r) {
			want |= Number
		}
		if unicode.IsSpace(r) {
			want |= Space
		}
		if r == '\r' || r == '\n' {
			want |= Newline
		}
		if got := Of(r); got != want {
			t.Errorf("Of(%U) = %b, want %b", r, got, want)
		}
	}
}

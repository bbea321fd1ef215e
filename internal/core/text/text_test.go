package text

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Invisible text can still instruct a model, so every character that Unicode lists as invisible is removed.
func TestSanitizeRemovesEveryDefaultIgnorable(t *testing.T) {
	data, err := os.ReadFile("testdata/default_ignorable.txt")
	if err != nil {
		t.Fatal(err)
	}
	removed := 0
	for line := range strings.Lines(string(data)) {
		points, _, ok := strings.Cut(line, ";")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		var first, last rune
		if n, _ := fmt.Sscanf(strings.TrimSpace(points), "%x..%x", &first, &last); n == 1 {
			last = first
		}
		for r := first; r <= last; r++ {
			if got := Sanitize("a"+string(r)+"b", 0); got != "a b" {
				t.Errorf("U+%04X passes: %q", r, got)
			}
			removed++
		}
	}
	if removed != 4174 { // the total that Unicode states for the property
		t.Errorf("the table has %d code points", removed)
	}
	if visible := "naïve Ünïcode 日本語 한글 e\u0301 ❤ 😀 … ½"; Sanitize(visible, 0) != visible {
		t.Errorf("%q", Sanitize(visible, 0))
	}
}

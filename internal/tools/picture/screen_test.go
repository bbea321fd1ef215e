package main

import (
	"strings"
	"testing"
)

// What a terminal is sent ends up where it stands on the screen, in the colours that it has there.
func TestScreen(t *testing.T) {
	var b strings.Builder
	lines := []string{
		"\x1b[38;2;1;2;3m\x1b[48;2;20;22;27mab  \x1b[1;31mcd",
		"  e<\x1b[0;7mr\x1b[27;48;2;252;224;148m72%\x1b[49m",
		"\x1b[0;38;5;208mf\x1b[2;38;5;244mg\x1b[22mh",
	}
	if err := screen(&b, lines); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`rx="8" fill="#14161b"`, // the ground is the first that there is
		`<text x="16.00" y="29" textLength="15.66" fill="#010203">ab</text>`,
		`<text x="47.32" y="29" textLength="15.66" fill="#ff7b72" font-weight="bold">cd</text>`,
		`<text x="31.66" y="47" textLength="15.66" fill="#ff7b72" font-weight="bold">e&lt;</text>`, // styling goes on
		`<text x="47.32" y="47" textLength="7.83" fill="#0d1117">r</text>`,
		`<rect x="47.32" y="34" width="7.83" height="18" fill="#c9d1d9"/>`,
		`<rect x="55.15" y="34" width="23.49" height="18" fill="#fce094"/>`,
		`<text x="16.00" y="65" textLength="7.83" fill="#ff8700">f</text>`,
		`<text x="23.83" y="65" textLength="7.83" fill="#808080" fill-opacity="0.6">g</text>`,
		`<text x="31.66" y="65" textLength="7.83" fill="#808080">h</text>`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in\n%s", want, &b)
		}
	}
}

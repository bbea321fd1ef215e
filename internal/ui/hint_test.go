package ui

import "testing"

// On a narrow screen the last line keeps the keys that lead on: help and quit.
func TestShortHint(t *testing.T) {
	const hint = "↑↓ choose · enter open · s sort · / filter · a ended · ? help · q quit"
	for width, want := range map[int]string{
		80: hint,
		60: "↑↓ choose · enter open · s sort · / filter · ? help · q quit",
		40: "↑↓ choose · enter open · ? help · q quit",
		20: "? help · q quit",
		10: "? help · q quit",
	} {
		if got := shortHint(hint, width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

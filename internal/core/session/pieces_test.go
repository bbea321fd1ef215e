package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Counting stays cheap for any amount of content. Content before the last megabyte is estimated from its length, and
// teaches nothing.
func TestCountingIsBounded(t *testing.T) {
	mega := strings.Repeat("a ", MaxCountedBytes/2)
	for _, tt := range []struct {
		name   string
		texts  []string // oldest first
		tokens []int
	}{
		{"up to the bound", []string{"b c", mega[4:]}, []int{2, MaxCountedBytes/2 - 2}},
		{"beyond it", []string{"35 bytes of text are ten tokens all", "c" + mega}, []int{10, (MaxCountedBytes + 1) * 2 / 7}},
		{"what comes before what is too long", []string{"b c d e", mega, "f g"}, []int{2, MaxCountedBytes * 2 / 7, 2}},
	} {
		var pieces []Piece
		for _, text := range tt.texts {
			pieces = append(pieces, Piece{Class: ToolResult, Text: text})
		}
		CountPieces(pieces, nil, wordCounter{}, MaxCountedBytes)
		var got []int
		for _, p := range pieces {
			got = append(got, p.Tokens)
		}
		if diff := cmp.Diff(tt.tokens, got); diff != "" || after(pieces...).Partial != (tt.name != "up to the bound") {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	none := []Piece{{Class: PromptText, Text: "seven b"}, {Class: Image}}
	CountPieces(none, nil, nil, MaxCountedBytes)
	if diff := cmp.Diff([]Piece{{Class: PromptText, Tokens: 2, Rough: true}, {Class: Image}}, none); diff != "" {
		t.Errorf("without a counter (-want +got):\n%s", diff)
	}
}

// wordCounter counts words.
type wordCounter struct{}

func (wordCounter) Count(text string) int { return len(strings.Fields(text)) }

package core

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wordCounter counts words, and notes what it was asked to count.
type wordCounter struct{ texts []string }

func (w *wordCounter) Count(text string) int {
	w.texts = append(w.texts, text)
	return len(strings.Fields(text))
}

// Only what an event brings is counted, each text once, and nothing of it is kept.
func TestOnlyWhatWasAppendedIsCounted(t *testing.T) {
	counted := &wordCounter{}
	w := newWorld()
	s := w.service()
	s.Counter = counted
	handle := func(ev Event) {
		t.Helper()
		ev.Host, ev.SessionID = HostClaudeCode, "s"
		if _, err := s.Handle(t.Context(), ev); err != nil {
			t.Fatal(err)
		}
	}
	rep := w.reported(100_000)
	handle(Event{Kind: BatchFinished})
	handle(Event{Kind: BatchFinished, Reading: &Reading{Cursor: Cursor{1, 1, 10}, Entries: []Entry{{Report: &rep}}}})
	if counted.texts != nil {
		t.Errorf("where nothing was appended %q was counted", counted.texts)
	}
	inside := Reading{Cursor: Cursor{1, 2, 10}, Entries: []Entry{{Content: []Piece{{Class: ToolResult, Text: "inside a sub-agent"}}}}}
	handle(Event{Kind: BatchFinished, AgentID: "a", Reading: &inside, Content: []Piece{{Class: ToolResult, Text: "inside too"}}})
	if counted.texts != nil || w.session().Tail.Added != (Content{}) {
		t.Errorf("of a sub-agent %q was counted: %+v", counted.texts, w.session().Tail)
	}
	entries := []Entry{{Offset: 10, Content: []Piece{{Class: PromptText, Text: "one two"}}}, {Offset: 20, Content: []Piece{{Class: InjectedText, Text: "three"}}}}
	given := []Piece{{Class: PromptText, Text: "four five six"}}
	handle(Event{Kind: PromptSubmitted, Reading: &Reading{From: 10, Cursor: Cursor{1, 1, 30}, Entries: entries}, Content: given})
	if diff := cmp.Diff([]string{"four five six", "three", "one two"}, counted.texts); diff != "" {
		t.Errorf("counted, the newest first (-want +got):\n%s", diff)
	}
	if got := w.session().Tail; got.Added != (Content{PromptTokens: 6, Texts: 3}) || got.Partial || !got.Prompted {
		t.Errorf("tail: %+v", got)
	}
	if given[0].Text == "" {
		t.Error("the caller's event was changed")
	}
}

// However much comes at once, counting it stays cheap: what is older than the last megabyte is guessed from its length, and
// nothing is learned from that.
func TestCountingIsBounded(t *testing.T) {
	mega := strings.Repeat("a ", maxCountedBytes/2)
	for _, tt := range []struct {
		name   string
		texts  []string // oldest first
		tokens []int
	}{
		{"up to the bound", []string{"b c", mega[4:]}, []int{2, maxCountedBytes/2 - 2}},
		{"beyond it", []string{"35 bytes of text are ten tokens all", "c" + mega}, []int{10, (maxCountedBytes + 1) * 2 / 7}},
		{"what comes before what is too long", []string{"b c d e", mega, "f g"}, []int{2, maxCountedBytes * 2 / 7, 2}},
	} {
		var pieces []Piece
		for _, text := range tt.texts {
			pieces = append(pieces, Piece{Class: ToolResult, Text: text})
		}
		countPieces(pieces, &wordCounter{}, maxCountedBytes)
		var got []int
		for _, p := range pieces {
			got = append(got, p.Tokens)
		}
		if diff := cmp.Diff(tt.tokens, got); diff != "" || after(pieces...).Partial != (tt.name != "up to the bound") {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	none := []Piece{{Class: PromptText, Text: "seven b"}, {Class: Image}}
	countPieces(none, nil, maxCountedBytes)
	if diff := cmp.Diff([]Piece{{Class: PromptText, Tokens: 2, Rough: true}, {Class: Image}}, none); diff != "" {
		t.Errorf("without a counter (-want +got):\n%s", diff)
	}
}

package core

import (
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/google/go-cmp/cmp"
)

// countedWords counts words, and records the texts that it counted.
type countedWords struct{ texts []string }

func (w *countedWords) Count(text string) int {
	w.texts = append(w.texts, text)
	return len(strings.Fields(text))
}

// Only the text of an event is counted, each text once, and no text is stored.
func TestOnlyWhatWasAppendedIsCounted(t *testing.T) {
	counted := &countedWords{}
	w := newTestEnv()
	s := w.service()
	s.Counter = counted
	handle := func(ev session.Event) {
		t.Helper()
		ev.Host, ev.SessionID = session.HostClaudeCode, "s"
		if _, err := s.Handle(t.Context(), ev); err != nil {
			t.Fatal(err)
		}
	}
	rep := w.reported(100_000)
	handle(session.Event{Kind: session.BatchFinished})
	handle(session.Event{Kind: session.BatchFinished, Reading: &session.Reading{Cursor: session.Cursor{Device: 1, Inode: 1, Offset: 10}, Entries: []session.Entry{{Report: &rep}}}})
	if counted.texts != nil {
		t.Errorf("where nothing was appended %q was counted", counted.texts)
	}
	inside := session.Reading{Cursor: session.Cursor{Device: 1, Inode: 2, Offset: 10}, Entries: []session.Entry{{Content: []session.Piece{{Class: session.ToolResult, Text: "inside a sub-agent"}}}}}
	handle(session.Event{Kind: session.BatchFinished, AgentID: "a", Reading: &inside, Content: []session.Piece{{Class: session.ToolResult, Text: "inside too"}}})
	if counted.texts != nil || w.session().Tail.Added != (session.Content{}) {
		t.Errorf("of a sub-agent %q was counted: %+v", counted.texts, w.session().Tail)
	}
	entries := []session.Entry{{Offset: 10, Content: []session.Piece{{Class: session.PromptText, Text: "one two"}}}, {Offset: 20, Content: []session.Piece{{Class: session.InjectedText, Text: "three"}}}}
	given := []session.Piece{{Class: session.PromptText, Text: "four five six"}}
	handle(session.Event{Kind: session.PromptSubmitted, Reading: &session.Reading{From: 10, Cursor: session.Cursor{Device: 1, Inode: 1, Offset: 30}, Entries: entries}, Content: given})
	if diff := cmp.Diff([]string{"four five six", "three", "one two"}, counted.texts); diff != "" {
		t.Errorf("counted, the newest first (-want +got):\n%s", diff)
	}
	if got := w.session().Tail; got.Added != (session.Content{PromptTokens: 6, Texts: 3}) || got.Partial || !got.Prompted {
		t.Errorf("tail: %+v", got)
	}
	if given[0].Text == "" {
		t.Error("the caller's event was changed")
	}
}

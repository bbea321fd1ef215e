// Package reply builds what a hook prints, in the form that hosts share (https://code.claude.com/docs/en/hooks). It is the last place
// that handles a text before a model reads it.
package reply

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Text joins texts with blank lines and makes the result safe: invisible characters except line feeds become spaces. It is at most limit
// long in the host's unit; size returns the length of one character.
func Text(texts []string, limit int, size func(rune) int) string {
	var kept []string
	for _, txt := range texts {
		if txt = strings.TrimSpace(text.SanitizeLines(txt)); txt != "" {
			kept = append(kept, txt)
		}
	}
	return strings.TrimSpace(Cut(strings.Join(kept, "\n\n"), limit, size))
}

// Cut returns the beginning of text that is at most limit long, in whole characters.
func Cut(text string, limit int, size func(rune) int) string {
	length := 0
	for i, r := range text {
		if length += size(r); length > limit {
			return text[:i]
		}
	}
	return text
}

// Hook returns what a hook prints that accepts effects of some kinds: the line of Context with their texts, or nothing. limit and
// size are those of Text.
func Hook(ev session.Event, effects []session.Effect, accepts []session.EffectKind, limit int, size func(rune) int) ([]byte, error) {
	var texts []string
	for _, effect := range effects {
		if slices.Contains(accepts, effect.Kind) { // Reduce wants nothing else
			texts = append(texts, effect.Text, strings.Join(effect.Lines, "\n"))
		}
	}
	said := Text(texts, limit, size)
	if said == "" {
		return nil, nil
	}
	return Context(ev.Name, said)
}

// Context returns the line that adds a text to the context of the model, in return for an event.
func Context(event, text string) ([]byte, error) {
	type output struct {
		HookEventName     string `json:"hookEventName"`
		AdditionalContext string `json:"additionalContext"`
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		HookSpecificOutput output `json:"hookSpecificOutput"`
	}{output{event, text}})
	return buf.Bytes(), err
}

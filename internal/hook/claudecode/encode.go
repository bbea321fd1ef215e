package claudecode

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core"
)

// speaks lists the events whose additionalContext reaches the model without changing the course of the turn. Stop would
// take it too, and go on for another turn.
var speaks = map[string]bool{
	"SessionStart": true, "UserPromptSubmit": true, "SubagentStart": true,
	"PreToolUse": true, "PostToolUse": true, "PostToolUseFailure": true, "PostToolBatch": true,
}

// accepts returns the effects that the host takes in return for an event.
func accepts(event string) []core.EffectKind {
	switch {
	case event == "PreCompact":
		return []core.EffectKind{core.CompactionContext}
	case speaks[event]:
		return []core.EffectKind{core.Inject}
	}
	return nil
}

// Encode returns what the hook prints: for most events a JSON object that names its event, for PreCompact the plain text
// that the host hands to the model that writes the summary (JSON is rejected there), and nothing for events that take
// nothing. Control and format characters become spaces, and the whole is cut to core.MaxInjectedChars.
func (*Adapter) Encode(ev core.Event, effects []core.Effect) ([]byte, error) {
	var texts []string
	for _, effect := range effects {
		switch {
		case !slices.Contains(accepts(ev.Name), effect.Kind): // not wanted by Reduce; dropped all the same
		case effect.Kind == core.CompactionContext:
			texts = append(texts, strings.Join(effect.Lines, "\n"))
		default:
			texts = append(texts, effect.Text)
		}
	}
	text := sayable(texts)
	if text == "" {
		return nil, nil
	}
	if ev.Name == "PreCompact" {
		if text[0] == '{' { // the host would take it for JSON
			text = cut("ctxls: "+text, core.MaxInjectedChars)
		}
		return []byte(text + "\n"), nil
	}
	type output struct {
		HookEventName     string `json:"hookEventName"`
		AdditionalContext string `json:"additionalContext"`
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		HookSpecificOutput output `json:"hookSpecificOutput"`
	}{output{ev.Name, text}})
	return buf.Bytes(), err
}

// sayable joins texts with blank lines into one that is safe to hand over.
func sayable(texts []string) string {
	var kept []string
	for _, text := range texts {
		if text = strings.TrimSpace(clean(text)); text != "" {
			kept = append(kept, text)
		}
	}
	return strings.TrimSpace(cut(strings.Join(kept, "\n\n"), core.MaxInjectedChars))
}

// frame is the tag in which the host wraps what hooks say. A file can be named like it; nothing said may close it.
var frame = strings.NewReplacer("<system-reminder", "(system-reminder", "</system-reminder", "(/system-reminder")

// clean replaces what is no visible character by a space, line feeds aside.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, string(utf8.RuneError)))
	return frame.Replace(text)
}

// cut returns the beginning of text that is at most limit characters long as the host counts them: in UTF-16 units.
func cut(text string, limit int) string {
	units := 0
	for i, r := range text {
		if units++; r > 0xFFFF {
			units++
		}
		if units > limit {
			return text[:i]
		}
	}
	return text
}

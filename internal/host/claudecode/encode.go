package claudecode

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/reply"
)

// speaks lists the events whose additionalContext reaches the model without changing the course of the turn. Stop would
// take it too, and go on for another turn.
var speaks = map[string]bool{
	"SessionStart": true, "UserPromptSubmit": true, "SubagentStart": true,
	"PreToolUse": true, "PostToolUse": true, "PostToolUseFailure": true, "PostToolBatch": true,
}

// accepts returns the effects that the host takes in return for an event.
func accepts(event string) []session.EffectKind {
	switch {
	case event == "PreCompact":
		return []session.EffectKind{session.CompactionContext}
	case speaks[event]:
		return []session.EffectKind{session.Inject}
	}
	return nil
}

// Encode returns what the hook prints: for most events a JSON object that names its event, for PreCompact the plain text
// that the host hands to the model that writes the summary (JSON is rejected there), and nothing for events that take
// nothing. Control and format characters become spaces, and the whole is cut to session.MaxInjectedChars.
func (*Adapter) Encode(ev session.Event, effects []session.Effect) ([]byte, error) {
	var texts []string
	for _, effect := range effects {
		switch {
		case !slices.Contains(accepts(ev.Name), effect.Kind): // not wanted by Reduce; dropped all the same
		case effect.Kind == session.CompactionContext:
			texts = append(texts, strings.Join(effect.Lines, "\n"))
		default:
			texts = append(texts, effect.Text)
		}
	}
	text := frame.Replace(reply.Text(texts, session.MaxInjectedChars, utf16.RuneLen))
	if text == "" {
		return nil, nil
	}
	if ev.Name == "PreCompact" {
		if text[0] == '{' { // the host would take it for JSON
			text = reply.Cut("ctxls: "+text, session.MaxInjectedChars, utf16.RuneLen)
		}
		return []byte(text + "\n"), nil
	}
	return reply.Context(ev.Name, text)
}

// frame is the tag in which the host wraps what hooks say. A file can be named like it; nothing said may close it.
var frame = strings.NewReplacer("<system-reminder", "(system-reminder", "</system-reminder", "(/system-reminder")

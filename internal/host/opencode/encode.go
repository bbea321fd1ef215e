package opencode

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf16"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/reply"
)

// accepts returns the effects that the host takes in return for a hook.
func accepts(name string) []session.EffectKind {
	switch name {
	case chatMessage:
		return []session.EffectKind{session.Inject}
	case toolAfter:
		return []session.EffectKind{session.AppendToolOutput}
	case compacting:
		return []session.EffectKind{session.CompactionContext}
	}
	return nil
}

// Additions are what a hook adds to the output that it was called with, each member to the one of its name: a string is
// appended, the elements of an array are pushed. That is all that the host allows, and all that the plugin has to know.
type Additions struct {
	Output  string   `json:"output,omitempty"`  // of tool.execute.after: what the model reads after the tool's own words
	Context []string `json:"context,omitempty"` // of experimental.session.compacting
	Parts   []Part   `json:"parts,omitempty"`   // of chat.message, one a text; the plugin gives them their ids
}

// Part is a text that goes with a prompt and is not the user's.
type Part struct {
	Type      string `json:"type"` // "text"
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"` // true: the host does not show it as the user's words
}

// Encode returns Additions as JSON, nil when there is nothing to add. Control and format characters become spaces, and a text is
// cut to session.MaxInjectedChars.
func (*Adapter) Encode(ev session.Event, effects []session.Effect) ([]byte, error) {
	var texts []string
	var add Additions
	for _, effect := range effects {
		said := effect.Text
		if effect.Kind == session.CompactionContext {
			said = strings.Join(effect.Lines, "\n")
		}
		texts = append(texts, said)
		if part := reply.Text([]string{said}, session.MaxInjectedChars, utf16.RuneLen); part != "" && ev.Name == chatMessage {
			add.Parts = append(add.Parts, Part{"text", part, true})
		}
	}
	text := reply.Text(texts, session.MaxInjectedChars, utf16.RuneLen)
	if text == "" {
		return nil, nil
	}
	switch ev.Name {
	case chatMessage:
	case toolAfter:
		add.Output = "\n\n" + text
	case compacting:
		add.Context = []string{text}
	default:
		return nil, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(add)
	return buf.Bytes(), err
}

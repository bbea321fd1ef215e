package gemini

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
)

// accepts returns the effects that the host takes in return for an event. It takes additionalContext from BeforeTool too, and
// throws it away.
func accepts(event string) []core.EffectKind {
	switch event {
	case "SessionStart", "BeforeAgent", "AfterTool":
		return []core.EffectKind{core.Inject}
	}
	return nil
}

// Encode returns what the hook prints: one JSON object that names its event, or nothing. Anything else would be shown to the
// person as a message of the hook. Control and format characters become spaces, and the whole is cut to
// core.MaxInjectedChars. Angle brackets the host escapes by itself, so that no text can close the frame it puts around it.
func (Adapter) Encode(ev core.Event, effects []core.Effect) ([]byte, error) {
	var texts []string
	for _, effect := range effects {
		if slices.Contains(accepts(ev.Name), effect.Kind) { // Reduce wants nothing else
			texts = append(texts, clean(effect.Text))
		}
	}
	text := []rune(strings.TrimSpace(strings.Join(texts, "\n\n")))
	if len(text) == 0 {
		return nil, nil
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
	}{output{ev.Name, string(text[:min(len(text), core.MaxInjectedChars)])}})
	return buf.Bytes(), err
}

// clean makes a text of several lines safe to hand over.
func clean(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = core.Sanitize(lines[i], 0)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

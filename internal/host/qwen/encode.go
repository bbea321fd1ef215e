package qwen

import (
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/reply"
)

// accepts returns the effects that the host takes in return for an event. That of PreCompact is given to the model that writes the
// summary, up to 4,000 characters (its source: MAX_HOOK_INSTRUCTIONS_CHARS). SessionStart takes a text, too, which is not on record: a
// session that is resumed after 'qwen -p /compress' would be without it.
func accepts(event string) []session.EffectKind {
	switch event {
	case "UserPromptSubmit", "PostToolBatch":
		return []session.EffectKind{session.Inject}
	case "PreCompact":
		return []session.EffectKind{session.CompactionContext}
	}
	return nil
}

// maxInstructions is how long the text for the summary may be, in characters.
const maxInstructions = 4000

// Encode returns what the hook prints: one JSON object that names its event, or nothing. Control and format characters become
// spaces.
func (Adapter) Encode(ev session.Event, effects []session.Effect) ([]byte, error) {
	return reply.Hook(ev, effects, accepts(ev.Name), min(session.MaxInjectedChars, maxInstructions), func(rune) int { return 1 })
}

package codex

import (
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/reply"
)

// speaks lists the events whose schema of what a hook may print has additionalContext. Of these, Codex gives the text to the
// model as a message of the developer.
var speaks = map[string]bool{
	"SessionStart": true, "UserPromptSubmit": true, "PreToolUse": true, "PostToolUse": true, "SubagentStart": true,
}

// maxContext is how long additionalContext may be, in bytes. Codex cuts the middle out of what it takes for more than 2,500
// tokens (additionalContextLimit), four bytes each.
const maxContext = 10_000

// accepts returns the effects that the host takes in return for an event.
func accepts(event string) []session.EffectKind {
	if speaks[event] {
		return []session.EffectKind{session.Inject}
	}
	return nil
}

// Encode returns what the hook prints: a JSON object that names its event, or nothing. Control and format characters become
// spaces.
func (*Adapter) Encode(ev session.Event, effects []session.Effect) ([]byte, error) {
	return reply.Hook(ev, effects, accepts(ev.Name), maxContext, utf8.RuneLen)
}

package gemini

import (
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/reply"
)

// accepts returns the effects that the host takes in return for an event. It takes additionalContext from BeforeTool too, and
// throws it away; with that of SessionStart, see Rules, it forgets the prompt.
func accepts(event string) []session.EffectKind {
	switch event {
	case "BeforeAgent", "AfterTool":
		return []session.EffectKind{session.Inject}
	}
	return nil
}

// Encode returns what the hook prints: one JSON object that names its event, or nothing. Anything else would be shown to the
// person as a message of the hook. Control and format characters become spaces, and the whole is cut to
// session.MaxInjectedChars. Angle brackets the host escapes by itself, so that no text can close the frame it puts around it.
func (Adapter) Encode(ev session.Event, effects []session.Effect) ([]byte, error) {
	return reply.Hook(ev, effects, accepts(ev.Name), session.MaxInjectedChars, func(rune) int { return 1 })
}

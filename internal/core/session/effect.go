package session

// EffectKind says where the text of an Effect goes.
type EffectKind string

// What ctxls can want done.
const (
	Inject            EffectKind = "inject"            // for the model, with or before its next input
	AppendToolOutput  EffectKind = "appendToolOutput"  // at the end of the output of the tool that just ran
	CompactionContext EffectKind = "compactionContext" // for the model that writes the summary
)

// Effect is something ctxls wants done in return for an event. The host's adapter turns it into the host's own form.
type Effect struct {
	Kind  EffectKind `json:"kind"`
	Text  string     `json:"text,omitempty"`  // of Inject and AppendToolOutput; at most MaxInjectedChars characters
	Lines []string   `json:"lines,omitempty"` // of CompactionContext
	// Private says that the text quotes the user: it is not logged.
	Private bool `json:"-"`
	// Working is what the lines of CompactionContext were made from.
	Working WorkingContext `json:"-"`
}

// MaxInjectedChars bounds what one effect may say, in characters. Claude Code moves longer hook output to a file and shows
// the model a preview instead (its hook documentation: 10,000 characters).
const MaxInjectedChars = 10_000

package session

// EffectKind says where the text of an Effect goes.
type EffectKind string

// The effects that ctxls can ask for.
const (
	Inject            EffectKind = "inject"            // for the model, with or before its next input
	AppendToolOutput  EffectKind = "appendToolOutput"  // at the end of the output of the last tool
	CompactionContext EffectKind = "compactionContext" // for the model that writes the summary
)

// Effect is something that ctxls asks the host to do in return for an event. The host's adapter converts it to the host's own form.
type Effect struct {
	Kind  EffectKind `json:"kind"`
	Text  string     `json:"text,omitempty"`  // of Inject and AppendToolOutput; at most MaxInjectedChars characters
	Lines []string   `json:"lines,omitempty"` // of CompactionContext
	// Private says that the text quotes the user: it is not logged.
	Private bool `json:"-"`
	// Working is the source of the lines of CompactionContext.
	Working WorkingContext `json:"-"`
}

// MaxInjectedChars bounds the text of one effect, in characters. Claude Code moves longer hook output to a file and shows the model a
// preview (its hook documentation: 10,000 characters).
const MaxInjectedChars = 10_000

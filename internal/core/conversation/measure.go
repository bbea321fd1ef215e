package conversation

import (
	"encoding/json"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/token"
)

// DefaultThresholdTokens is the default size, in tokens, above which a conversation is too long.
const DefaultThresholdTokens = 200_000

// replyPriming is the cost of the start of the reply in OpenAI's chat format, messageFraming the cost of each message and nameFraming
// that of a name, in tokens (OpenAI cookbook, "How to count tokens with tiktoken").
const replyPriming, messageFraming, nameFraming = 3, 3, 1

// Meter measures and trims conversations. It caches counts by content, in at most 8 MiB, so that a longer conversation costs only its
// new part. It is safe for concurrent use.
type Meter struct {
	counter    func(encoding string) (token.Counter, error)
	encodingOf func(model string) (encoding string, known bool)
	cache      countCache
}

// NewMeter returns a Meter. counter returns the counter of an encoding by its name. encodingOf returns the encoding for a model, and
// whether the model really uses it.
func NewMeter(counter func(encoding string) (token.Counter, error), encodingOf func(model string) (encoding string, known bool)) *Meter {
	return &Meter{counter: counter, encodingOf: encodingOf}
}

// Conversation is the input of a model. Each message is in the form of OpenAI chat completions, Anthropic messages, OpenCode ({info,
// parts}) or Gemini ({role, parts}). One conversation may mix them.
type Conversation struct {
	Messages json.RawMessage `json:"messages"`           // an array of messages
	System   json.RawMessage `json:"system,omitempty"`   // a string, an array of strings and blocks, or {parts}
	Tools    json.RawMessage `json:"tools,omitempty"`    // an array of tool definitions
	Model    string          `json:"model,omitempty"`    // decides the encoding and the cost of images
	Provider string          `json:"provider,omitempty"` // decides the cost of images if the model's name does not
	Encoding string          `json:"encoding,omitempty"` // goes before the model's
	Framing  string          `json:"framing,omitempty"`  // "none" (the default) or "openai": 3 a message, 1 a name, 3 for the reply

	// Checked says that Messages, System and Tools are known to be well-formed JSON.
	Checked bool `json:"-"`
}

// MeasureRequest asks for the size of a conversation.
type MeasureRequest struct {
	Conversation
	ThresholdTokens *int `json:"thresholdTokens,omitempty"` // above 0; DefaultThresholdTokens where nil
	WindowTokens    *int `json:"windowTokens,omitempty"`    // above 0; nil is unknown, and then Percent is, too
	Breakdown       bool `json:"breakdown,omitempty"`       // fill ByRole and ByMessage
}

// Measurement is the size of a conversation.
type Measurement struct {
	Tokens           int      `json:"tokens"`           // of every text that the model would read
	ExceedsThreshold bool     `json:"exceedsThreshold"` // Tokens > ThresholdTokens, strictly
	ThresholdTokens  int      `json:"thresholdTokens"`  // the size above which it is too long
	WindowTokens     *int     `json:"windowTokens"`     // the size of the model's window; null is unknown
	Percent          *float64 `json:"percent"`          // of WindowTokens; may be above 100
	Encoding         string   `json:"encoding"`         // what was counted with
	// Exact is true if all content was text, and either no model was named, or the named model really uses Encoding and no tools were
	// defined. Every provider writes tool definitions in its own form.
	Exact bool `json:"exact"`
	// ByRole adds up to Tokens. System is under "system", Tools under "tools", and the start of the reply, if framing counts it, under
	// "assistant".
	ByRole map[string]int `json:"byRole,omitempty"`
	// ByMessage holds the tokens of each message, with its framing.
	ByMessage []int `json:"byMessage,omitempty"`
	// Roles has the role of each message, in the order of ByMessage. It is for users; JSON clients have the messages.
	Roles []string `json:"-"`
}

// Measure counts the tokens of a conversation: the sum of the counts of every text that the model would read, each counted separately.
// Texts are contents, names, tool names, arguments as JSON, tool results and thinking, but not IDs, signatures or encrypted thinking.
// The size of images and documents is estimated from the provider's formula and their data. Content of an unknown type counts by its
// JSON text.
//
// It serves requirement 1_PRD-REQ-MET-010: keep active context windows under 200k tokens for 90 % of tasks.
//
// Errors have coded.Invalid and name the wrong member, as in "messages[3].content: expected a string or an array, got a number".
func (m *Meter) Measure(req MeasureRequest) (Measurement, error) {
	return measure(req, m.tally)
}

// MeasureText counts a text as one message of the user, in place of the request's messages, system and tools.
func (m *Meter) MeasureText(text string, req MeasureRequest) (Measurement, error) {
	return measure(req, func(c Conversation) (*tally, error) {
		c.Messages, c.System, c.Tools = nil, nil, nil
		t, err := m.newTally(c)
		if err != nil {
			return nil, err
		}
		t.messages = []message{{digest: &digest{role: "user", tokens: t.count(text)}}}
		return t, nil
	})
}

// measure converts a tally to the result of a request.
func measure(req MeasureRequest, tally func(Conversation) (*tally, error)) (Measurement, error) {
	threshold, err := positive("thresholdTokens", req.ThresholdTokens, DefaultThresholdTokens)
	if err != nil {
		return Measurement{}, err
	}
	window, err := positive("windowTokens", req.WindowTokens, 0)
	if err != nil {
		return Measurement{}, err
	}
	t, err := tally(req.Conversation)
	if err != nil {
		return Measurement{}, err
	}
	result := Measurement{
		Tokens:           t.total(),
		ExceedsThreshold: t.total() > threshold,
		ThresholdTokens:  threshold,
		Encoding:         t.encoding,
		Exact:            t.exact,
	}
	if window > 0 {
		percent := float64(result.Tokens) * 100 / float64(window)
		result.WindowTokens, result.Percent = &window, &percent
	}
	if req.Breakdown {
		result.ByRole, result.ByMessage, result.Roles = t.breakdown()
	}
	return result, nil
}

// positive returns the value of an optional member that must be above 0.
func positive(name string, given *int, otherwise int) (int, error) {
	if given == nil {
		return otherwise, nil
	}
	if *given <= 0 {
		return 0, coded.Field(name, "expected a whole number above 0, got %d", *given)
	}
	return *given, nil
}

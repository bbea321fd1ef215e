package conversation

import (
	"encoding/json"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/token"
)

// DefaultThresholdTokens is the size above which a conversation is too long where nobody says otherwise, in tokens.
const DefaultThresholdTokens = 200_000

// replyPriming is what OpenAI's chat format spends on the start of the reply, messageFraming on each message and
// nameFraming on a name, in tokens (OpenAI cookbook, "How to count tokens with tiktoken").
const replyPriming, messageFraming, nameFraming = 3, 3, 1

// Meter measures and trims conversations. It remembers what it counted, by content and in at most 8 MiB, so that a
// conversation that grew costs only its new part. It is safe for concurrent use.
type Meter struct {
	counter    func(encoding string) (token.Counter, error)
	encodingOf func(model string) (encoding string, known bool)
	cache      countCache
}

// NewMeter returns a Meter that counts with the counters that counter finds by the name of an encoding. encodingOf says
// which encoding stands for a model, and whether the model really uses it.
func NewMeter(counter func(encoding string) (token.Counter, error), encodingOf func(model string) (encoding string, known bool)) *Meter {
	return &Meter{counter: counter, encodingOf: encodingOf}
}

// Conversation is what a model is sent. Each message is in the form of OpenAI chat completions, Anthropic messages,
// OpenCode ({info, parts}) or Gemini ({role, parts}); one conversation may mix them.
type Conversation struct {
	Messages json.RawMessage `json:"messages"`           // an array of messages
	System   json.RawMessage `json:"system,omitempty"`   // a string, an array of strings and blocks, or {parts}
	Tools    json.RawMessage `json:"tools,omitempty"`    // an array of tool definitions
	Model    string          `json:"model,omitempty"`    // decides the encoding and what an image costs
	Provider string          `json:"provider,omitempty"` // decides what an image costs where the model's name does not
	Encoding string          `json:"encoding,omitempty"` // goes before the model's
	Framing  string          `json:"framing,omitempty"`  // "none" (the default) or "openai": 3 a message, 1 a name, 3 for the reply

	// Checked says that Messages, System and Tools are known to be well-formed JSON, and need not be looked over for that.
	Checked bool `json:"-"`
}

// MeasureRequest asks how large a conversation is.
type MeasureRequest struct {
	Conversation
	ThresholdTokens *int `json:"thresholdTokens,omitempty"` // above 0; DefaultThresholdTokens where nil
	WindowTokens    *int `json:"windowTokens,omitempty"`    // above 0; nil: unknown, and so is the share of it
	Breakdown       bool `json:"breakdown,omitempty"`       // fill ByRole and ByMessage
}

// Measurement is how large a conversation is.
type Measurement struct {
	Tokens           int      `json:"tokens"`           // of every text that the model would read
	ExceedsThreshold bool     `json:"exceedsThreshold"` // Tokens > ThresholdTokens, strictly
	ThresholdTokens  int      `json:"thresholdTokens"`  // the size above which it is too large
	WindowTokens     *int     `json:"windowTokens"`     // how many the model accepts; null is unknown
	Percent          *float64 `json:"percent"`          // of WindowTokens; may be above 100
	Encoding         string   `json:"encoding"`         // what was counted with
	// Exact is true when everything counted was text, and either no model was named or the named model really uses
	// Encoding and no tools were defined, which every provider writes out in a form of its own.
	Exact bool `json:"exact"`
	// ByRole adds up to Tokens. System stands under "system", Tools under "tools", the start of the reply that framing
	// counts under "assistant".
	ByRole map[string]int `json:"byRole,omitempty"`
	// ByMessage holds the tokens of each message, with its framing.
	ByMessage []int `json:"byMessage,omitempty"`
	// Roles holds the role of each message, beside ByMessage. It is for people: who speaks JSON has the messages.
	Roles []string `json:"-"`
}

// Measure counts the tokens of a conversation: the sum of the counts of every text that the model would read, each counted
// on its own. Texts are contents, names, tool names, arguments as JSON, tool results and thinking, but not ids, signatures
// or encrypted thinking. Images and documents are estimated from the provider's formula and their own data; what is of an
// unknown type counts by its JSON text.
//
// It serves requirement 1_PRD-REQ-MET-010: keep active context windows under 200k tokens for 90 % of tasks.
//
// Errors carry CodeInvalid and name the member that is wrong, as in
// "messages[3].content: expected a string or an array, got a number".
func (m *Meter) Measure(req MeasureRequest) (Measurement, error) {
	return measure(req, m.tally)
}

// MeasureText counts a text as one message of a user's, in the place of the request's messages, system and tools.
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

// measure says of what is tallied what a request asks for.
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

package conversation

import (
	"encoding/json"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// PrepareRequest asks for a conversation that may be sent: unchanged, or trimmed if it is too long.
type PrepareRequest struct {
	TaskID string `json:"taskId"` // the task of the conversation; must not be empty
	TrimRequest
	ThresholdTokens *int `json:"thresholdTokens,omitempty"` // above 0; DefaultThresholdTokens where nil
}

// Prepared is a conversation that may be sent.
type Prepared struct {
	Messages         json.RawMessage `json:"messages"` // as in TrimResult
	Tokens           int             `json:"tokens"`
	OriginalTokens   int             `json:"originalTokens"`   // the demand, before trimming
	Trimmed          bool            `json:"trimmed"`          // something was removed or cleared
	Removed          []int           `json:"removed"`          // indices of the input, rising; never nil
	ExceedsThreshold bool            `json:"exceedsThreshold"` // OriginalTokens > ThresholdTokens, strictly
	Satisfied        bool            `json:"satisfied"`        // nothing had to go, or the rest is at most the target and has a message besides instructions
}

// Prepare measures a conversation and trims it to the target if it exceeds the threshold. An agent loop calls it once before each call
// of its model. The caller records the task. Errors are those of Measure and Trim.
func (m *Meter) Prepare(req PrepareRequest) (Prepared, error) {
	if req.TaskID == "" {
		return Prepared{}, coded.Field("taskId", "expected a string that is not empty")
	}
	threshold, err := positive("thresholdTokens", req.ThresholdTokens, DefaultThresholdTokens)
	if err != nil {
		return Prepared{}, err
	}
	c, target, err := m.newTrimming(req.TrimRequest)
	if err != nil {
		return Prepared{}, err
	}
	exceeds := c.total > threshold
	if exceeds {
		c.trim(req.TrimRequest, target)
	}
	result := c.result(req.Messages, target)
	return Prepared{
		Messages:         result.Messages,
		Tokens:           result.Tokens,
		OriginalTokens:   result.OriginalTokens,
		Trimmed:          len(result.Removed)+len(result.Cleared) > 0,
		Removed:          result.Removed,
		ExceedsThreshold: exceeds,
		Satisfied:        !exceeds || result.Satisfied && (c.spoken > 0 || c.dropped == 0),
	}, nil
}

// AppendJSON appends the result as a JSON object, the messages byte for byte.
func (p Prepared) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"messages":`...)
	dst = append(dst, p.Messages...)
	dst = appendMember(dst, "tokens", p.Tokens)
	dst = appendMember(dst, "originalTokens", p.OriginalTokens)
	dst = appendMember(dst, "trimmed", p.Trimmed)
	dst = appendMember(dst, "removed", p.Removed)
	dst = appendMember(dst, "exceedsThreshold", p.ExceedsThreshold)
	dst = appendMember(dst, "satisfied", p.Satisfied)
	return append(dst, '}')
}

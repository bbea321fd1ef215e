package session

import "maps"

// Tail is the conversation since the last reported response. The present occupancy is estimated from it. The zero Tail knows no
// response.
type Tail struct {
	MessageID string     `json:"messageId,omitempty"` // of the response, if the host gives it an ID
	Tuple     UsageTuple `json:"tuple,omitzero"`      // its figures without the output
	Input     int        `json:"input,omitempty"`     // the tokens of its input; 0 is unknown
	Output    int        `json:"output,omitempty"`    // the tokens of its output once it is complete; 0 is unknown

	Answer Content `json:"answer,omitzero"` // the response itself
	Added  Content `json:"added,omitzero"`  // what came after it
	Newest Content `json:"newest,omitzero"` // the part of Added after the newest piece of an answer
	// Open maps the calls without a result to the class of their tool.
	Open map[string]ToolClass `json:"open,omitempty"`

	Prompted bool    `json:"prompted,omitempty"` // Added contains a prompt of the user, which began a turn
	Thinking float64 `json:"thinking,omitempty"` // thinking tokens earlier in the response's turn
	// Partial says that something is missing or was not counted exactly. Nothing can be learned from such a tail.
	Partial bool `json:"partial,omitempty"`
}

// maxOpenCalls bounds Tail.Open. No model makes so many calls in parallel.
const maxOpenCalls = 64

// Append returns the tail with more content.
func (t Tail) Append(pieces []Piece) Tail {
	open := maps.Clone(t.Open)
	for _, p := range pieces {
		switch p.Class {
		case AnswerText, ToolCall, Thought:
			t.Answer, t.Newest = t.Answer.add(p, nil), Content{}
		default:
			t.Added, t.Newest = t.Added.add(p, open), t.Newest.add(p, open)
		}
		switch p.Class {
		case ToolCall:
			if class := p.ToolClass; class != OtherTool && len(open) < maxOpenCalls {
				if open == nil {
					open = map[string]ToolClass{}
				}
				open[p.CallID] = class
			}
		case ToolResult:
			delete(open, p.CallID)
		case PromptText:
			t.Prompted = true
		}
		t.Partial = t.Partial || p.Rough
	}
	t.Open = open
	return t
}

// Repeats reports whether a report is about the response at the start of the tail. Hosts that stream write one report for each part.
func (t Tail) Repeats(rep Report) bool {
	tuple := rep.Tuple
	tuple.Output = 0
	return t.Input > 0 && t.MessageID == rep.MessageID && t.Tuple == tuple
}

// Follow returns the tail of a new response with that many input tokens.
func (t Tail) Follow(rep Report, input int, e Estimator) Tail {
	next := Tail{MessageID: rep.MessageID, Tuple: rep.Tuple, Input: input, Output: rep.Tuple.Output}
	next.Tuple.Output = 0
	if rep.Late {
		next.Added, next.Newest = t.Newest, t.Newest
	}
	if !t.Prompted {
		next.Thinking = t.Thinking + e.thinking(t.Answer)
	}
	return next
}

// IsEmpty reports whether nothing has come since the response.
func (t Tail) IsEmpty() bool {
	return t.Output == 0 && t.Answer == (Content{}) && t.Added == (Content{})
}

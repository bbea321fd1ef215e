package conversation

import (
	"time"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/jsonscan"
)

// defaultKeepLast is how many of the newest groups a plan leaves alone by default.
const defaultKeepLast = 4

// PlanRequest asks what can go of a conversation.
type PlanRequest struct {
	Conversation
	TargetTokens *int `json:"targetTokens,omitempty"` // above 0: take no more items than it needs; nil: all
	// KeepLast protects that many of the newest groups; 4 where nil. A call and its results are one group.
	KeepLast     *int `json:"keepLast,omitempty"`
	WindowTokens *int `json:"windowTokens,omitempty"` // above 0: what the model accepts, for what counts as bulky
	// CompactionTokens is the size at which the conversation will be compacted, above 0; nil where that is unknown.
	CompactionTokens *int               `json:"compactionTokens,omitempty"`
	LastResponseAt   *time.Time         `json:"lastResponseAt,omitempty"` // when the model answered last; nil: the cache counts as warm
	Prices           *plan.PriceOptions `json:"prices,omitempty"`         // instead of those that ctxls knows of the model

	Now time.Time `json:"-"`
}

// Plan says what can go of a conversation, what that frees and what it costs. It changes nothing. The time is linear in the
// length of the input. Errors are those of Measure.
func (m *Meter) Plan(req PlanRequest) (plan.Report, error) {
	found, s, target, err := m.plan(req)
	if err != nil {
		return plan.Report{}, err
	}
	return found.Report(target, s), nil
}

// plan checks a request and finds the items.
func (m *Meter) plan(req PlanRequest) (found plan.Found, s plan.Situation, target int, err error) {
	s, target, keepLast, window, err := planOptions(req)
	if err != nil {
		return found, s, 0, err
	}
	t, err := m.tally(req.Conversation)
	if err != nil {
		return found, s, 0, err
	}
	c := newTrimmingOf(t)
	c.protect(keepLast)
	parts, _ := c.parts(req.Model)
	return plan.Find(plan.Conversation{Parts: parts, Before: t.fixed(), Window: window}), s, target, nil
}

// planOptions checks what a request says beside the conversation.
func planOptions(req PlanRequest) (s plan.Situation, target, keepLast, window int, err error) {
	keepLast = defaultKeepLast
	if req.KeepLast != nil {
		keepLast = *req.KeepLast
	}
	if target, err = positive("targetTokens", req.TargetTokens, 0); err != nil {
		return s, 0, 0, 0, err
	}
	if window, err = positive("windowTokens", req.WindowTokens, 0); err != nil {
		return s, 0, 0, 0, err
	}
	if s.CompactsAt, err = positive("compactionTokens", req.CompactionTokens, 0); err != nil {
		return s, 0, 0, 0, err
	}
	if keepLast < 0 {
		return s, 0, 0, 0, coded.Field("keepLast", "expected a whole number, 0 or above, got %d", keepLast)
	}
	if s.Prices, err = req.Prices.Apply(plan.PricesOf(req.Provider, req.Model)); err != nil {
		return s, 0, 0, 0, err
	}
	s.Now = req.Now
	if req.LastResponseAt != nil {
		s.LastResponse = *req.LastResponseAt
	}
	return s, target, keepLast, window, nil
}

// place is where a part stands in the conversation.
type place struct{ message, spot int }

// parts makes parts of the messages, and says where each stands. What is in no group that may go is fixed.
func (c *trimming) parts(model string) (parts []plan.Part, places []place) {
	open := c.openGroups()
	thoughtsGo := plan.LetsThinkingGo(model)
	n := 0
	for _, msg := range c.messages {
		n += len(msg.spots)
	}
	parts, places = make([]plan.Part, 0, n), make([]place, 0, n)
	for i, msg := range c.messages {
		fixed := !open[c.groupOf[i]]
		result, beside := -1, c.cost(msg.digest)
		for _, s := range msg.spots {
			if !s.within {
				beside -= s.tokens
			}
		}
		if len(msg.spots) == 0 {
			parts, places = append(parts, plan.Part{Class: msg.speaker(), Message: i, Fixed: true, Within: -1}), append(places, place{i, -1})
		}
		for k := range msg.spots {
			s := &msg.spots[k]
			p := plan.Part{Class: s.class, Message: i, Tokens: s.tokens, Fixed: fixed, CallID: s.call.id, Tool: s.call.name, Failed: s.failed, Within: -1}
			v := jsonscan.Value{Doc: msg.raw, Lo: s.lo, Hi: s.hi}
			switch s.class {
			case plan.Prompt:
				p.Class, p.Text = msg.speaker(), v.Text()
			case plan.Thought:
				p.Text = v.Member("thinking").Text() + v.Member("text").Text()
				p.Fixed = fixed || s.kept || !thoughtsGo
			case plan.Call:
				p.Left = c.count(s.left())
				p.Text = v.Text()
				if !v.IsString() {
					p.Text = string(v.Raw())
				}
			case plan.Result:
				result = len(parts)
				p.Text = resultText(v)
				if s.body < 0 {
					p.Fixed = true
					break
				}
				b := msg.bodies[s.body]
				p.Cleared, p.Left = b.cleared, c.count(b.placeholder())
			case plan.Media:
				p.Left = c.count(mediaPlaceholder(s.tokens))
				if s.within {
					p.Within = result
				}
			}
			parts, places = append(parts, p), append(places, place{i, k})
		}
		parts[len(parts)-max(len(msg.spots), 1)].Beside = beside
	}
	return parts, places
}

// speaker says who says the texts of a message.
func (g *digest) speaker() plan.Class {
	switch g.role {
	case "user":
		if !g.opensTurn() {
			return plan.Aside
		}
		return plan.Prompt
	case "assistant", "model":
		return plan.Answer
	}
	return plan.Instructions
}

// resultText returns what a result says: a string, the texts of blocks, or all strings of an object.
func resultText(v jsonscan.Value) (text string) {
	switch {
	case v.IsString():
		return v.Text()
	case v.IsArray():
		for _, block := range v.Elements() {
			if block.IsString() {
				text += block.Text()
			} else {
				text += block.Member("text").Text()
			}
		}
		return text
	}
	plan.EachString(string(v.Raw()), func(s string) { text += s + "\n" })
	return text
}

package conversation

import (
	"encoding/json"
	"slices"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// DefaultTargetTokens is the default size to which a conversation is trimmed, in tokens.
const DefaultTargetTokens = 180_000

// TrimRequest asks for a conversation of at most TargetTokens.
type TrimRequest struct {
	Conversation
	TargetTokens *int `json:"targetTokens,omitempty"` // above 0; DefaultTargetTokens where nil
	// Strategy is "oldest" (the default), "toolResults", which first replaces the bodies of the oldest tool results with
	// "[tool result cleared by ctxls: N tokens]", or "plan", which first clears what Plan finds, the least loss first.
	Strategy string `json:"strategy,omitempty"`
	// KeepLast protects that many of the newest groups, whatever the target.
	KeepLast int `json:"keepLast,omitempty"`
	// StartOn "user" drops groups from the start until the first message that is not a system message is a user message
	// without tool results. Where no such message is left, all that KeepLast does not protect goes.
	StartOn string `json:"startOn,omitempty"`
}

// TrimResult is a trimmed conversation. Indices are those of the input.
//
// encoding/json rewrites the white space and the escapes of a RawMessage. AppendJSON does not: who hands messages on must
// use it.
type TrimResult struct {
	Messages       json.RawMessage `json:"messages"` // the input's own bytes, cleared tool results aside
	Tokens         int             `json:"tokens"`
	OriginalTokens int             `json:"originalTokens"`
	Removed        []int           `json:"removed"`   // messages that are gone, rising; never nil
	Cleared        []int           `json:"cleared"`   // kept messages of which a part was cleared, rising; never nil
	Satisfied      bool            `json:"satisfied"` // Tokens is at most the target
}

// Trim removes the oldest messages of a conversation until it counts at most the target. It keeps every system and
// developer message. A message with tool calls and all messages that answer them are one group, which stays or goes as a
// whole, and is as old as the newest of them. The input is not changed; what is kept keeps its bytes. Where what may not go is too large alone, the result is
// that, not Satisfied. One pass: the time is linear in the length of the input.
//
// It serves requirement 1_PRD-REQ-MET-010: keep active context windows under 200k tokens for 90 % of tasks.
//
// Errors are those of Measure.
func (m *Meter) Trim(req TrimRequest) (TrimResult, error) {
	c, target, err := m.newTrimming(req)
	if err != nil {
		return TrimResult{}, err
	}
	c.trim(req, target)
	return c.result(req.Messages, target), nil
}

// AppendJSON appends the result as a JSON object, the messages byte for byte.
func (r TrimResult) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"messages":`...)
	dst = append(dst, r.Messages...)
	dst = appendMember(dst, "tokens", r.Tokens)
	dst = appendMember(dst, "originalTokens", r.OriginalTokens)
	dst = appendMember(dst, "removed", r.Removed)
	dst = appendMember(dst, "cleared", r.Cleared)
	dst = appendMember(dst, "satisfied", r.Satisfied)
	return append(dst, '}')
}

// appendMember appends a further member of an object whose value is of a type that always encodes.
func appendMember(dst []byte, name string, val any) []byte {
	encoded, _ := json.Marshal(val)
	dst = append(dst, `,"`+name+`":`...)
	return append(dst, encoded...)
}

// cut is a trim under way. Groups go by the index of their first message.
type trimming struct {
	*tally
	original, total int
	groupOf         []int // of each message
	costs           []int // of each group
	open            []int // the groups that may go, oldest first
	gone            []bool
	spoken, dropped int            // groups without instructions that are left, and that are gone
	cleared         map[int][]edit // what is cleared, by message
}

// newTrimming checks the request, counts its conversation and finds the groups in it.
func (m *Meter) newTrimming(req TrimRequest) (c *trimming, target int, err error) {
	target, err = positive("targetTokens", req.TargetTokens, DefaultTargetTokens)
	switch {
	case err != nil:
		return nil, 0, err
	case req.Strategy != "" && req.Strategy != "oldest" && req.Strategy != "toolResults" && req.Strategy != "plan":
		return nil, 0, coded.Field("strategy", `expected "oldest", "toolResults" or "plan", got %q`, req.Strategy)
	case req.StartOn != "" && req.StartOn != "user":
		return nil, 0, coded.Field("startOn", `expected "user", got %q`, req.StartOn)
	case req.KeepLast < 0:
		return nil, 0, coded.Field("keepLast", "expected a whole number, 0 or above, got %d", req.KeepLast)
	}
	t, err := m.tally(req.Conversation)
	if err != nil {
		return nil, 0, err
	}
	c = newTrimmingOf(t)
	c.protect(req.KeepLast)
	return c, target, nil
}

// newTrimmingOf finds the groups of a conversation.
func newTrimmingOf(t *tally) *trimming {
	c := &trimming{
		tally:   t,
		total:   t.fixed(),
		groupOf: groups(t.messages),
		costs:   make([]int, len(t.messages)),
		gone:    make([]bool, len(t.messages)),
		cleared: map[int][]edit{},
	}
	kept := make([]bool, len(t.messages)) // groups that hold a system message
	for i, msg := range t.messages {
		cost, group := t.cost(msg.digest), c.groupOf[i]
		c.total += cost
		c.costs[group] += cost
		kept[group] = kept[group] || msg.instructs()
	}
	newest := make([]int, len(t.messages)) // of each group
	for i, group := range c.groupOf {
		newest[group] = i
	}
	for i, group := range c.groupOf {
		if i == newest[group] && !kept[group] {
			c.open = append(c.open, group)
		}
	}
	c.spoken = len(c.open)
	c.original = c.total
	return c
}

// protect takes the newest groups off those that may go.
func (c *trimming) protect(keepLast int) { c.open = c.open[:max(0, len(c.open)-keepLast)] }

// openGroups says of each group whether it may go.
func (c *trimming) openGroups() []bool {
	open := make([]bool, len(c.messages))
	for _, group := range c.open {
		open[group] = true
	}
	return open
}

func (c *trimming) trim(req TrimRequest, target int) {
	switch req.Strategy {
	case "toolResults":
		c.clearResults(target)
	case "plan":
		c.clearPlanned(req.Model, target)
	}
	for c.total > target && len(c.open) > 0 {
		c.dropOldest()
	}
	if req.StartOn == "user" {
		c.dropUntilTurn()
	}
}

// dropUntilTurn drops groups from the start until the first message that may go opens a turn.
func (c *trimming) dropUntilTurn() {
	may := c.openGroups()
	for i, group := range c.groupOf {
		if !may[group] || c.gone[group] {
			continue
		}
		if c.messages[i].opensTurn() {
			return
		}
		c.drop(group)
	}
}

func (c *trimming) result(input json.RawMessage, target int) TrimResult {
	result := TrimResult{Tokens: c.total, OriginalTokens: c.original, Satisfied: c.total <= target}
	result.Messages, result.Removed, result.Cleared = c.splice(input)
	return result
}

func (c *trimming) dropOldest() {
	c.drop(c.open[0])
	c.open = c.open[1:]
}

func (c *trimming) drop(group int) {
	c.gone[group] = true
	c.total -= c.costs[group]
	c.spoken--
	c.dropped++
}

// clearResults clears tool results, oldest first, until the target is met. It passes over those where the placeholder
// would be no shorter.
func (c *trimming) clearResults(target int) {
	open := c.openGroups()
	for i, msg := range c.messages {
		if !open[c.groupOf[i]] {
			continue
		}
		for _, b := range msg.bodies {
			if c.total <= target {
				return
			}
			saved := b.tokens - c.count(b.placeholder())
			if b.cleared || saved <= 0 {
				continue
			}
			c.clear(i, saved, b.clear())
		}
	}
}

// clear takes down edits of a message that save tokens.
func (c *trimming) clear(message, saved int, edits []edit) {
	c.cleared[message] = append(c.cleared[message], edits...)
	c.costs[c.groupOf[message]] -= saved
	c.total -= saved
}

// placeholder is the text that stands for a cleared body.
func (b body) placeholder() string {
	if b.object {
		return `{"output":"` + placeholder(b.tokens) + `"}`
	}
	return placeholder(b.tokens)
}

// splice writes the result from the bytes of the input.
func (c *trimming) splice(input json.RawMessage) (out json.RawMessage, removed, cleared []int) {
	removed, cleared = []int{}, []int{}
	out = append(make([]byte, 0, len(input)), '[')
	for i, msg := range c.messages {
		if c.gone[c.groupOf[i]] {
			removed = append(removed, i)
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if c.cleared[i] != nil {
			cleared = append(cleared, i)
		}
		out = apply(out, msg.raw, c.cleared[i])
	}
	if len(removed) == 0 && len(cleared) == 0 {
		return slices.Clone(input), removed, cleared
	}
	return append(out, ']'), removed, cleared
}

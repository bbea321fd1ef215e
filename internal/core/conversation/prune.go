package conversation

import (
	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/jsonscan"
)

// Pruned is a part of an OpenCode message that all later requests leave out, with the text that replaces it.
type Pruned struct {
	PartID string   `json:"partId"`         // OpenCode's own id of the part
	What   PrunedBy `json:"what"`           // which member of the part is replaced
	Text   string   `json:"text,omitempty"` // what it is replaced with
}

// PrunedBy says what of a part is replaced.
type PrunedBy string

// What can be replaced.
const (
	PrunedOutput PrunedBy = "output" // state.output; its attachments go with it
	PrunedInput  PrunedBy = "input"  // state.input, with {cleared: text}
	PrunedFile   PrunedBy = "file"   // the whole part, with a text part
	PrunedPart   PrunedBy = "part"   // the whole part, with nothing
)

// PruneRequest asks what of a conversation of OpenCode's to leave out of the next request.
type PruneRequest struct {
	PlanRequest
	Known     []Pruned       // what was left out of earlier requests, and stays out
	Situation plan.Situation // without prices, which are the request's
	Tokens    int            // what the window held last, with system prompt and tools; 0 is unknown
	Frozen    bool           // leave out nothing new
}

// PruneResult is what to leave out.
type PruneResult struct {
	Pruned []Pruned    // what was known and is still there, and what is new
	New    []plan.Item // what is new; empty where a cut does not pay
	Found  plan.Found
	Cut    plan.Cut
}

// leastCut is how many tokens a new cut frees at least: smaller ones are not worth a change.
const leastCut = 500

// nearCompaction is the share of the compaction point, in percent, from which on a cut is made whether it pays or not: a compaction
// would rewrite the whole cache.
const nearCompaction = 90

// Prune decides what to leave out of the next request: all that was left out before, so that the provider's cache keeps what it has, and
// more where that pays or the compaction is near. Errors are those of Plan.
func (m *Meter) Prune(req PruneRequest) (PruneResult, error) {
	s, _, keepLast, window, err := planOptions(req.PlanRequest)
	if err != nil {
		return PruneResult{}, err
	}
	t, err := m.tally(req.Conversation)
	if err != nil {
		return PruneResult{}, err
	}
	prices := s.Prices
	s = req.Situation
	s.Prices = prices
	c := newTrimmingOf(t)
	c.protect(keepLast)
	parts, places := c.parts(req.Model)
	ids := c.partIDs(places)
	known := map[[2]string]Pruned{}
	for _, p := range req.Known {
		known[[2]string{p.PartID, string(p.What)}] = p
	}
	result := PruneResult{Pruned: []Pruned{}}
	counted := t.fixed()
	for i := range parts {
		p := &parts[i]
		if was, ok := known[[2]string{ids[i], string(c.what(places[i]))}]; ok && ids[i] != "" {
			result.Pruned = append(result.Pruned, was)
			p.Cleared, p.Tokens = true, min(p.Tokens, p.Left)
		}
		p.Fixed = p.Fixed || ids[i] == ""
		counted += p.Tokens + p.Beside
	}
	result.Found = plan.Find(plan.Conversation{Parts: parts, Before: t.fixed() + max(0, req.Tokens-counted), Window: window})
	if req.Frozen {
		return result, nil
	}
	result.Cut = result.Found.Best(s)
	if s.CompactsAt > 0 && result.Found.Tokens*100 >= s.CompactsAt*nearCompaction {
		result.Cut = result.Found.Cost(result.Found.Items, s)
	}
	if result.Cut.Freed < leastCut {
		return result, nil
	}
	result.New = result.Cut.Items
	for _, it := range result.New {
		msg := c.messages[places[it.Part].message]
		s := msg.spots[places[it.Part].spot]
		text := ""
		switch s.class {
		case plan.Result:
			text = placeholder(msg.bodies[s.body].tokens)
		case plan.Call:
			text = inputPlaceholder(s.tokens)
		case plan.Media:
			text = mediaPlaceholder(s.tokens)
		}
		result.Pruned = append(result.Pruned, Pruned{ids[it.Part], c.what(places[it.Part]), text})
	}
	return result, nil
}

// what says which member of a part is replaced.
func (c *trimming) what(at place) PrunedBy {
	if at.spot < 0 {
		return ""
	}
	switch c.messages[at.message].spots[at.spot].class {
	case plan.Result:
		return PrunedOutput
	case plan.Call:
		return PrunedInput
	case plan.Media:
		return PrunedFile
	case plan.Thought:
		return PrunedPart
	}
	return ""
}

// partIDs returns OpenCode's id of the part that each place is in; "" where there is none.
func (c *trimming) partIDs(places []place) []string {
	ids := make([]string, len(places))
	at := 0
	for at < len(places) {
		message := places[at].message
		raw := c.messages[message].raw
		parts := jsonscan.Value{Doc: raw, Lo: 0, Hi: len(raw)}.Member("parts")
		for _, part := range parts.Elements() {
			for ; at < len(places) && places[at].message == message; at++ {
				if spot := places[at].spot; spot >= 0 && c.messages[message].spots[spot].lo >= part.Hi {
					break
				}
				ids[at] = part.Member("id").Text()
			}
		}
		for at < len(places) && places[at].message == message {
			at++
		}
	}
	return ids
}

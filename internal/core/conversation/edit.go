package conversation

import (
	"slices"
	"strconv"

	"github.com/ctxls/ctxls/internal/core/plan"
)

// edit replaces bytes lo to hi of a message.
type edit struct {
	lo, hi int
	text   string
}

// apply appends a message after edits, which must not overlap.
func apply(out, raw []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return a.lo - b.lo })
	from := 0
	for _, e := range edits {
		out = append(out, raw[from:e.lo]...)
		out = append(out, e.text...)
		from = e.hi
	}
	return append(out, raw[from:]...)
}

// clear returns the edits that replace a result by the placeholder.
func (b body) clear() []edit {
	text := b.placeholder()
	if !b.object {
		text = `"` + text + `"`
	}
	edits := []edit{{b.lo, b.hi, text}}
	if b.extraHi > 0 {
		edits = append(edits, edit{b.extraLo, b.extraHi, "[]"})
	}
	return edits
}

// The replacements of media and of the input of a failed call, around their former size in tokens.
func mediaPlaceholder(tokens int) string {
	return "[image or document cleared by ctxls: " + strconv.Itoa(tokens) + " tokens]"
}

func inputPlaceholder(tokens int) string {
	return "[input of a failed call cleared by ctxls: " + strconv.Itoa(tokens) + " tokens]"
}

// left returns the text of a call's input, or of media, after it was cleared, in the form that is counted.
func (s *spot) left() string {
	switch s.form {
	case formObject, formArguments:
		return `{"cleared":"` + inputPlaceholder(s.tokens) + `"}`
	case formString:
		return inputPlaceholder(s.tokens)
	}
	return mediaPlaceholder(s.tokens)
}

// clear returns the edit that removes a call's input, media or a thought from a message.
func (s *spot) clear(raw []byte) edit {
	lo, hi, text := s.lo, s.hi, s.left()
	switch s.form {
	case formArguments:
		text = `"{\"cleared\":\"` + inputPlaceholder(s.tokens) + `\"}"`
	case formString:
		text = `"` + text + `"`
	case formBlock:
		text = `{"type":"text","text":"` + text + `"}`
	case formInput:
		text = `{"type":"input_text","text":"` + text + `"}`
	case formPart:
		text = `{"text":"` + text + `"}`
	case formLeading:
		text = ""
		for raw[hi] != ',' { // only white space is before it
			hi++
		}
		hi++
	case formElement:
		text = ""
		for lo--; raw[lo] != ','; lo-- {
		}
	}
	return edit{lo, hi, text}
}

// clearPlanned clears the items of a plan, those with the smallest loss first, until the target is met.
func (c *trimming) clearPlanned(model string, target int) {
	if c.total <= target {
		return
	}
	parts, places := c.parts(model)
	found := plan.Find(plan.Conversation{Parts: parts, Before: c.fixed()})
	for _, it := range found.Items {
		if c.total <= target {
			return
		}
		at := places[it.Part]
		msg := c.messages[at.message]
		s := &msg.spots[at.spot]
		edits := []edit{}
		if s.class == plan.Result {
			edits = msg.bodies[s.body].clear()
		} else {
			edits = append(edits, s.clear(msg.raw))
		}
		c.clear(at.message, it.Tokens, edits)
	}
}

package conversation

import (
	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/jsonscan"
)

// spot is one part of a message that a plan looks at: bytes lo to hi of it. Of a thought and of media that is the whole block, of
// all else the value that holds the text.
type spot struct {
	class  plan.Class // plan.Prompt is text of any role
	lo, hi int
	tokens int
	call   ref  // of a call, and of a result the call that it answers
	failed bool // of a result
	body   int  // of a result: its index among the bodies; -1 where it must stay
	within bool // of media: in the result whose spot comes next before it
	form   spotForm
	kept   bool // of a thought: its message would be empty without it
}

// spotForm says how a spot is replaced.
type spotForm byte

const (
	formBlock     spotForm = iota // {"type":"text","text":…}
	formInput                     // {"type":"input_text","text":…}
	formPart                      // {"text":…}
	formObject                    // {"cleared":…}
	formArguments                 // the same, as JSON in a string
	formString                    // …
	formLeading                   // the element goes, with the comma behind it
	formElement                   // the element goes, with the comma before it
)

// say counts the text of a message.
func (r *reader) say(v jsonscan.Value) {
	before := r.tokens
	r.add(v.Text())
	r.spots = append(r.spots, spot{class: plan.Prompt, lo: v.Lo, hi: v.Hi, tokens: r.tokens - before})
}

// saying is text for the text of a message.
func (r *reader) saying(path string, v jsonscan.Value) error {
	if !v.IsString() {
		return at(path, mismatch("a string", v))
	}
	r.say(v)
	return nil
}

// input counts the input of a call.
func (r *reader) input(call ref, v jsonscan.Value, form spotForm) {
	before := r.tokens
	r.json(v)
	if v.Present() {
		r.spots = append(r.spots, spot{class: plan.Call, lo: v.Lo, hi: v.Hi, tokens: r.tokens - before, call: call, form: form})
	}
}

// blockSpot takes down a block that began at before tokens.
func (r *reader) blockSpot(class plan.Class, v jsonscan.Value, before int, form spotForm) {
	r.spots = append(r.spots, spot{class: class, lo: v.Lo, hi: v.Hi, tokens: r.tokens - before, form: form})
}

// resultSpot takes down a result that began at before tokens, and with it the media that it holds. What it says is one text.
func (r *reader) resultSpot(answers ref, v jsonscan.Value, before, firstSpot int, failed bool, body int) {
	if !v.Present() {
		return
	}
	held := r.spots[firstSpot:]
	media := 0
	for _, s := range held {
		if s.class == plan.Media {
			s.within = true
			held[media] = s
			media++
		}
	}
	r.spots = append(r.spots[:firstSpot+media], spot{})
	held = r.spots[firstSpot:]
	copy(held[1:], held[:media]) // the result comes before what it holds
	held[0] = spot{class: plan.Result, lo: v.Lo, hi: v.Hi, tokens: r.tokens - before, call: answers, failed: failed, body: body}
}

// settleThoughts looks at the thoughts among the elements of an array, whose spots start at first: whether something else is there, and
// which comma goes with each.
func (r *reader) settleThoughts(array jsonscan.Value, first int) {
	thoughts := r.spots[first:]
	n := 0
	for _, s := range thoughts {
		if s.class == plan.Thought {
			n++
		}
	}
	if n == 0 {
		return
	}
	elements, leading := 0, true
	starts := map[int]bool{} // of the thoughts before which nothing else stands
	isThought := map[int]bool{}
	for _, s := range thoughts {
		isThought[s.lo] = s.class == plan.Thought
	}
	for _, element := range array.Elements() {
		elements++
		leading = leading && isThought[element.Lo]
		starts[element.Lo] = leading
	}
	for i := range thoughts {
		if s := &thoughts[i]; s.class == plan.Thought {
			s.kept = elements == n
			s.form = formElement
			if starts[s.lo] {
				s.form = formLeading
			}
		}
	}
}

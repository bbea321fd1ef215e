// Package plan says what can go from a conversation, what that frees, and what it costs at the provider's cache. It changes
// nothing, and knows neither the forms of messages nor hosts: package conversation makes parts of messages, package core of
// the records that hosts keep.
package plan

// Class says what a part of a conversation is.
type Class int

// The classes of part.
const (
	Instructions Class = iota // a system prompt, or standing instructions
	Prompt                    // what the user said: it begins a turn
	Aside                     // what the user said in the midst of one, beside the results of tools
	Injected                  // what the host added by itself
	Answer                    // what the model said
	Thought                   // what the model thought
	Call                      // the input of a tool call
	Result                    // what the tool gave back
	Media                     // an image or a document
)

// modelMade reports whether the model wrote the part.
func (c Class) modelMade() bool { return c == Answer || c == Thought || c == Call }

// Part is one part of a conversation, in the order in which the model reads them.
type Part struct {
	Class   Class
	Message int    // the index of the message that holds it; -1 where there are no messages
	Text    string // of a Call its input as JSON; "" for Media
	Tokens  int    // what it counts
	Beside  int    // what its message counts beside its parts, such as names of tools; it stays
	Left    int    // what its placeholder would count; 0 where nothing would be left
	// Fixed says that it cannot go: the caller protects it, or its form has no place for what would be left.
	Fixed   bool
	Cleared bool // it has gone already
	// CallID joins a result to the last call before it with this id, or, where either has none, with this Tool.
	CallID, Tool string
	Path         string // the file that a call is about, where the caller knows more of it than the input says
	Failed       bool   // of a Result
	// Within is the index of the part that holds a Media, a Result before it; -1 for none.
	Within int
}

// numbered is a part with what the whole conversation says of it.
type numbered struct {
	Part
	call     int // of a Result: the index of its call; of a Call: that of its result; -1 where there is none
	turn     int // prompts up to it
	response int // answers of the model up to it
	start    int // tokens before it
	act      action
}

// conversation is the parts with their numbers.
type conversation struct {
	parts            []numbered
	turns, responses int
	tokens           int // in all
}

// number finds the calls of results, the turns and the responses. before is how many tokens stand before the first part.
func number(parts []Part, before int) *conversation {
	c := &conversation{parts: make([]numbered, len(parts)), tokens: before}
	byID, byTool := map[string]int{}, map[string]int{}
	answering := false // the part before was the model's
	prompted := false  // the part before was a prompt
	for i, p := range parts {
		if p.Class == Prompt && !prompted {
			c.turns++
		}
		prompted = p.Class == Prompt // two in a row begin one turn
		if p.Class.modelMade() && !answering {
			c.responses++
		}
		answering = p.Class.modelMade()
		c.tokens += p.Beside
		n := numbered{Part: p, call: -1, turn: c.turns, response: c.responses, start: c.tokens}
		switch p.Class {
		case Call:
			n.act = actionOf(p.Tool, p.Text, p.Path)
			if p.CallID != "" {
				byID[p.CallID] = i
			}
			byTool[p.Tool] = i
		case Result:
			call, ok := byID[p.CallID]
			if p.CallID == "" || !ok && p.Tool != "" {
				call, ok = byTool[p.Tool]
			}
			if ok && c.parts[call].call < 0 {
				n.call, c.parts[call].call = call, i
				n.act = c.parts[call].act
			}
		}
		if p.Class != Media || p.Within < 0 {
			c.tokens += p.Tokens // what is within a result is counted there
		}
		c.parts[i] = n
	}
	return c
}

// age is how much has happened since a part.
type age struct{ turns, responses int }

// reached reports whether the part is at least as old: in turns, or in responses where a turn has many.
func (c *conversation) reached(p *numbered, least age) bool {
	return c.turns-p.turn >= least.turns || c.responses-p.response >= least.responses
}

package plan

import (
	"cmp"
	"slices"
)

// Kind says why an item can go.
type Kind string

// The kinds of item, in the order in which a trim takes them: what is lost least goes first.
const (
	Duplicate  Kind = "duplicate"  // a result that stands again later, letter by letter
	Superseded Kind = "superseded" // a read or listing of what was read again or written later
	Thinking   Kind = "thinking"   // what the model thought in turns that are over, where the provider lets it go
	Failed     Kind = "failed"     // the input of a call that failed a while ago
	Binary     Kind = "binary"     // an image or a document that was answered a while ago
	Stale      Kind = "stale"      // a result from a while ago that nothing has named since
	Bulky      Kind = "bulky"      // a result that takes a large share of the window
)

// Kinds lists the kinds in their order.
var Kinds = []Kind{Duplicate, Superseded, Thinking, Failed, Binary, Stale, Bulky}

// Certainty says how sure it is that nothing later needs an item.
type Certainty string

// The degrees of certainty.
const (
	High   Certainty = "high"   // its content stands elsewhere, or the provider leaves it out too
	Medium Certainty = "medium" // nothing has come back to it
	Low    Certainty = "low"    // only its size speaks against it
)

var certaintyOf = map[Kind]Certainty{
	Duplicate: High, Superseded: High, Thinking: High, Failed: High, Binary: Medium, Stale: Medium, Bulky: Low,
}

// Item is something that can go.
type Item struct {
	Kind      Kind      `json:"kind"`      // why it can go
	Where     Where     `json:"where"`     // where it stands
	Tokens    int       `json:"tokens"`    // what its going frees: what it counts without its placeholder
	Certainty Certainty `json:"certainty"` // how sure it is that nothing later needs it
	Why       string    `json:"why"`       // one clause, for people

	Part   int `json:"-"` // its index among the parts
	Keeper int `json:"-"` // of a duplicate and of what is superseded: the part that holds the content, or newer content; else -1
}

// Where says where an item stands.
type Where struct {
	Message *int   `json:"message"`          // index of its message; null where the conversation came from a host's record
	Turn    int    `json:"turn"`             // the turn that it is in: 1 is the first, 0 is before
	CallID  string `json:"callId,omitempty"` // of a result, and of a failed input
	Tool    string `json:"tool,omitempty"`   // that was called
	Path    string `json:"path,omitempty"`   // the file that the call was about
}

// Conversation is what a plan is made of.
type Conversation struct {
	Parts  []Part
	Before int // tokens that stand before the first part: system prompt and tool definitions
	Window int // what the model accepts, in tokens; 0 is unknown
}

// Found is what can go of a conversation.
type Found struct {
	Items     []Item // in the order of Kinds, the oldest first in each
	Turns     int    // prompts of the user
	Responses int    // of the model
	Tokens    int    // of the conversation
	starts    []int  // tokens before each part
}

// Find returns what can go of a conversation. Nothing that is fixed, no instruction, nothing that the user or the model
// said, nothing that either quoted later, and no result or input without its counterpart is among it. The time is linear in the length
// of all texts.
func Find(conv Conversation) Found {
	c := number(conv.Parts, conv.Before)
	f := finder{conversation: c, window: conv.Window, kinds: make([]Kind, len(c.parts)), keepers: make([]int, len(c.parts)), holds: make([]bool, len(c.parts))}
	f.quoted, f.used = make([]bool, len(c.parts)), make([]bool, len(c.parts))
	f.compare()
	f.judge()
	found := Found{Turns: c.turns, Responses: c.responses, Tokens: c.tokens, starts: make([]int, len(c.parts)), Items: []Item{}}
	for i := range c.parts {
		found.starts[i] = c.parts[i].start
		if f.kinds[i] != "" {
			found.Items = append(found.Items, f.item(i))
		}
	}
	slices.SortStableFunc(found.Items, func(a, b Item) int {
		return cmp.Compare(slices.Index(Kinds, a.Kind), slices.Index(Kinds, b.Kind))
	})
	return found
}

// Freed returns what the items free together, in tokens.
func Freed(items []Item) (tokens int) {
	for _, it := range items {
		tokens += it.Tokens
	}
	return tokens
}

// UpTo returns the first items that bring the conversation down to a target, or all.
func (f Found) UpTo(target int) []Item {
	left := f.Tokens
	for i, it := range f.Items {
		if left <= target {
			return f.Items[:i]
		}
		left -= it.Tokens
	}
	return f.Items
}

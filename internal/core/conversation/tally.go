package conversation

import (
	"encoding/json"
	"runtime"
	"slices"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/jsonscan"
)

// tally is a conversation with everything in it counted.
type tally struct {
	countingRules
	count    func(string) int
	exact    bool
	framed   bool
	checked  bool // what is read is known to be well formed
	system   int  // tokens of the system member
	tools    int  // tokens of the tools member
	messages []message
}

// message is one message of the input and what is known of it.
type message struct {
	raw []byte
	*digest
}

// newTally checks how a conversation is to be counted; nothing of it is counted yet.
func (m *Meter) newTally(c Conversation) (*tally, error) {
	if c.Framing != "" && c.Framing != "none" && c.Framing != "openai" {
		return nil, coded.Field("framing", `expected "none" or "openai", got %q`, c.Framing)
	}
	encoding, known := m.encodingOf(c.Model)
	own := c.Model == "" || known && (c.Encoding == "" || c.Encoding == encoding)
	if c.Encoding != "" {
		encoding = c.Encoding
	}
	counter, err := m.counter(encoding)
	if err != nil {
		return nil, coded.Field("encoding", "%w", err)
	}
	return &tally{
		countingRules: countingRules{encoding, imageRuleFor(c.Provider, c.Model)},
		count:         counter.Count,
		exact:         own,
		framed:        c.Framing == "openai",
		checked:       c.Checked,
	}, nil
}

// tally counts a conversation, looking only into what is not in the cache.
func (m *Meter) tally(c Conversation) (*tally, error) {
	t, err := m.newTally(c)
	if err != nil {
		return nil, err
	}
	if err := t.readMessages(&m.cache, c.Messages); err != nil {
		return nil, invalid("messages", err)
	}
	if t.system, err = t.readAround(&m.cache, kindSystem, c.System); err != nil {
		return nil, invalid("system", err)
	}
	if t.tools, err = t.readAround(&m.cache, kindTools, c.Tools); err != nil {
		return nil, invalid("tools", err)
	}
	t.exact = t.exact && (c.Model == "" || t.tools == 0)
	return t, nil
}

// invalid says which member could not be read.
func invalid(member string, err error) error {
	if e, ok := err.(*shapeError); ok {
		return coded.Field(member+e.path, "expected %s, got %s", e.want, e.got)
	}
	return coded.Field(member, "%w", err)
}

// readMessages finds the messages in their array.
func (t *tally) readMessages(cache *countCache, raw json.RawMessage) error {
	if len(raw) == 0 {
		return mismatch("an array", jsonscan.Value{})
	}
	each := func(_, v jsonscan.Value) { t.messages = append(t.messages, message{raw: v.Raw()}) }
	array, err := t.parse(raw, each)
	if err != nil {
		return err
	}
	if !array.IsArray() {
		return mismatch("an array", array)
	}
	one := func(i int) (err error) {
		t.messages[i].digest, err = t.digestOf(cache, kindMessage, t.messages[i].raw)
		return err
	}
	workers := 1
	if len(raw) >= worthSharing {
		workers = runtime.GOMAXPROCS(0)
	}
	if i, err := inParallel(workers, len(t.messages), one); err != nil {
		return at(index(i), err)
	}
	for _, msg := range t.messages {
		t.exact = t.exact && msg.exact
	}
	return nil
}

// readAround counts one of the members that stand beside the messages. Missing and null are nothing.
func (t *tally) readAround(cache *countCache, kind kind, raw json.RawMessage) (tokens int, err error) {
	if len(raw) == 0 {
		return 0, nil
	}
	v, err := t.parse(raw, nil)
	if err != nil || !v.Present() {
		return 0, err
	}
	g, err := t.digestOf(cache, kind, v.Raw())
	if err != nil {
		return 0, err
	}
	t.exact = t.exact && g.exact
	return g.tokens, nil
}

// parse is parse for what may have been checked before.
func (t *tally) parse(raw json.RawMessage, each func(name, val jsonscan.Value)) (jsonscan.Value, error) {
	if !t.checked {
		return jsonscan.Parse(raw, each)
	}
	v := jsonscan.Whole(raw)
	if each != nil {
		for _, element := range v.Elements() {
			each(jsonscan.Value{}, element)
		}
	}
	return v, nil
}

// digestOf returns what is known of the bytes, which are one well-formed value.
func (t *tally) digestOf(cache *countCache, kind kind, raw []byte) (*digest, error) {
	key := keyOf(kind, t.countingRules, raw)
	if g := cache.get(key); g != nil {
		return g, nil
	}
	r := reader{countingRules: t.countingRules, count: t.count}
	if err := r.read(kind, jsonscan.Value{Doc: raw, Lo: 0, Hi: len(raw)}); err != nil {
		return nil, err
	}
	g := r.digest
	g.calls, g.answers, g.bodies, g.spots = slices.Clip(g.calls), slices.Clip(g.answers), slices.Clip(g.bodies), slices.Clip(g.spots)
	cache.put(key, &g)
	return &g, nil
}

func (t *tally) total() int {
	total := t.fixed()
	for _, msg := range t.messages {
		total += t.cost(msg.digest)
	}
	return total
}

// fixed is what stands beside the messages: system, tools, and the start of the reply that framing counts.
func (t *tally) fixed() int {
	if t.framed {
		return t.system + t.tools + replyPriming
	}
	return t.system + t.tools
}

// cost is what a message counts, with its framing.
func (t *tally) cost(g *digest) int {
	switch {
	case t.framed && g.named:
		return g.tokens + messageFraming + nameFraming
	case t.framed:
		return g.tokens + messageFraming
	}
	return g.tokens
}

func (t *tally) breakdown() (byRole map[string]int, byMessage []int, roles []string) {
	byRole, byMessage, roles = map[string]int{}, make([]int, len(t.messages)), make([]string, len(t.messages))
	for i, msg := range t.messages {
		byMessage[i], roles[i] = t.cost(msg.digest), msg.role
		byRole[msg.role] += byMessage[i]
	}
	for role, tokens := range map[string]int{"system": t.system, "tools": t.tools, "assistant": t.fixed() - t.system - t.tools} {
		if tokens > 0 {
			byRole[role] += tokens
		}
	}
	return byRole, byMessage, roles
}

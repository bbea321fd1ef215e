package opencode

import (
	"sync"

	"github.com/ctxls/ctxls/internal/core/session"
)

// maxChildren bounds how many sub-agents are remembered; the oldest go first.
const maxChildren = 1024

// children knows which sessions are sub-agents: OpenCode runs each in a session of its own, and only the events about that
// session itself name its parent. Decode is called in the order in which events come, so what one says holds for the next.
// The zero value knows none.
type children struct {
	mu    sync.Mutex
	known map[string]child
	order []string // as they were learned
}

type child struct {
	root string // the session at the top, which a person talks to
	kind string // of agent
}

// learn takes note that a session is a sub-agent of parent.
func (c *children) learn(id, parent, kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if above, ok := c.known[parent]; ok {
		parent = above.root
	}
	if id == parent {
		return
	}
	if c.known == nil {
		c.known = map[string]child{}
	}
	if _, ok := c.known[id]; !ok {
		if len(c.order) == maxChildren {
			delete(c.known, c.order[0])
			c.order = c.order[1:]
		}
		c.order = append(c.order, id)
	}
	c.known[id] = child{parent, kind}
}

// place moves an event of a sub-agent's session to the session at the top.
func (c *children) place(ev *session.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.known[ev.SessionID]
	if !ok {
		return
	}
	ev.AgentID, ev.SessionID = ev.SessionID, known.root
	if ev.AgentType == "" {
		ev.AgentType = known.kind
	}
}

package rpc

import (
	"context"
	"slices"
	"sync"
)

// turns keeps what concerns one session in the order of its arrival, while different sessions go on side by side.
type turns struct {
	mu    sync.Mutex
	lines map[string][]*turn
}

// turn is a place in the line of one session.
type turn struct {
	session string
	come    chan struct{} // closed when everyone before has left
}

// take stands in at the end of a session's line. The caller must leave, whether or not its turn came.
func (t *turns) take(session string) *turn {
	own := &turn{session: session, come: make(chan struct{})}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lines == nil {
		t.lines = make(map[string][]*turn)
	}
	t.lines[session] = append(t.lines[session], own)
	if len(t.lines[session]) == 1 {
		close(own.come)
	}
	return own
}

// leave gives up own's place.
func (t *turns) leave(own *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := t.lines[own.session]
	first := line[0] == own
	line = slices.DeleteFunc(line, func(other *turn) bool { return other == own })
	if len(line) == 0 {
		delete(t.lines, own.session)
		return
	}
	t.lines[own.session] = line
	if first {
		close(line[0].come)
	}
}

// wait returns when own's turn has come or ctx has ended, and then with the error of ctx.
func (own *turn) wait(ctx context.Context) error {
	select {
	case <-own.come:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

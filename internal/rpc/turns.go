package rpc

import (
	"context"
	"sync"
)

// turns keeps what concerns one session in the order of its arrival, while different sessions go on side by side. What
// concerns all of them, like a list of sessions, comes after everything that was asked before it.
type turns struct {
	mu      sync.Mutex
	last    map[string]*turn   // the end of each session's line
	present map[*turn]struct{} // everyone who has not left
}

// turn is a place in the order.
type turn struct {
	session string
	before  []*turn       // who has to leave first; nil once they have
	left    chan struct{} // closed when it and everyone before it is gone
}

// take stands in at the end of a session's line; "" stands in none. The caller must leave, whether or not its turn came.
func (t *turns) take(session string) *turn {
	own := &turn{session: session, left: make(chan struct{})}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.present == nil {
		t.last, t.present = make(map[string]*turn), make(map[*turn]struct{})
	}
	if session != "" {
		if previous := t.last[session]; previous != nil {
			own.before = []*turn{previous}
		}
		t.last[session] = own
	}
	t.present[own] = struct{}{}
	return own
}

// takeLast stands in behind everyone who is present.
func (t *turns) takeLast() *turn {
	own := t.take("")
	t.mu.Lock()
	defer t.mu.Unlock()
	for other := range t.present {
		if other != own {
			own.before = append(own.before, other)
		}
	}
	return own
}

// leave gives up own's place. Where its turn had not come yet, whoever stands behind still waits for those before.
func (t *turns) leave(own *turn) {
	if own.before == nil {
		t.remove(own)
		return
	}
	go func() {
		_ = own.wait(context.Background())
		t.remove(own)
	}()
}

func (t *turns) remove(own *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.present, own)
	if t.last[own.session] == own {
		delete(t.last, own.session)
	}
	close(own.left)
}

// wait returns when own's turn has come or ctx has ended, and then with the error of ctx.
func (own *turn) wait(ctx context.Context) error {
	for _, other := range own.before {
		select {
		case <-other.left:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	own.before = nil
	return ctx.Err()
}

package rpc

import (
	"context"
	"sync"
)

// turns orders requests. Requests about one session run in the order of arrival, and different sessions run side by side. A request
// about all sessions, such as a list, runs after all earlier requests.
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

// take appends a turn to the queue of a session; "" is no queue. The caller must call leave, even if the turn did not come.
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

// takeLast returns a turn that waits for all present turns.
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

// leave ends own's turn. If the turn had not come yet, later turns still wait for the earlier ones.
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

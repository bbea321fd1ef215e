package transport

import (
	"sync"
	"time"
)

// The bounds of requests that are not answered yet. While one is reached, the stream reads nothing more. So a client that sends
// faster than it reads is slowed down by its own pipe, and the server's memory does not grow.
const (
	maxPending      = 256      // requests being handled or waiting, and replies not yet written
	maxPendingBytes = 16 << 20 // bytes of their params and replies; one message may go beyond it
)

// load counts the open requests and unwritten replies.
type load struct {
	mu      sync.Mutex
	changed sync.Cond
	calls   int // requests and notifications that are being handled or wait for their turn
	replies int // frames read that are still to be answered with a frame
	bytes   int // of params being handled and of replies being written
	closed  bool
}

func newLoad() *load {
	l := new(load)
	l.changed.L = &l.mu
	return l
}

// add adds to each count.
func (l *load) add(calls, replies, bytes int) {
	l.mu.Lock()
	l.calls += calls
	l.replies += replies
	l.bytes += bytes
	l.mu.Unlock()
	l.changed.Broadcast()
}

// close makes every wait return at once.
func (l *load) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.changed.Broadcast()
}

// waitForRoom returns when one more message may be read, or false when the connection was closed.
func (l *load) waitForRoom() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.closed && (l.calls+l.replies >= maxPending || l.bytes >= maxPendingBytes) {
		l.changed.Wait()
	}
	return !l.closed
}

// waitUntilIdle returns when everything is answered, when the connection was closed, or after limit. It reports whether everything
// was answered.
func (l *load) waitUntilIdle(limit time.Duration) bool {
	late := false
	timer := time.AfterFunc(limit, func() {
		l.mu.Lock()
		late = true
		l.mu.Unlock()
		l.changed.Broadcast()
	})
	defer timer.Stop()

	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.closed && !late && l.calls+l.replies > 0 {
		l.changed.Wait()
	}
	return l.calls+l.replies == 0
}

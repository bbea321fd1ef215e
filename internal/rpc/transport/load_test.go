package transport

import (
	"testing"
	"time"
)

func TestLoadWaitsNoLongerThanAsked(t *testing.T) {
	l := newLoad()
	l.add(1, 0, 0)
	if l.waitUntilIdle(time.Millisecond) {
		t.Error("idle with a call in hand")
	}
	go l.add(-1, 0, 0)
	if !l.waitUntilIdle(time.Minute) {
		t.Error("not idle with nothing in hand")
	}
	l.add(maxPending, 0, 0)
	go l.close()
	if l.waitForRoom() {
		t.Error("room on a closed connection")
	}
}

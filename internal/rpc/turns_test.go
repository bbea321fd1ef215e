package rpc

import (
	"context"
	"testing"
)

// hasCome reports, without waiting, whether a turn has begun.
func hasCome(own *turn) bool {
	for _, other := range own.before {
		select {
		case <-other.left:
		default:
			return false
		}
	}
	return true
}

func TestTurns(t *testing.T) {
	var order turns
	a1, a2, b1, free := order.take("a"), order.take("a"), order.take("b"), order.take("")
	all := order.takeLast()
	a3 := order.take("a")
	if !hasCome(a1) || !hasCome(b1) || !hasCome(free) {
		t.Error("the first of each session, and what is about none, wait for nobody")
	}
	if hasCome(a2) || hasCome(all) || hasCome(a3) {
		t.Error("what comes later in one session's line, or is about all, came at once")
	}
	order.leave(free)
	order.leave(a1)
	if !hasCome(a2) || hasCome(a3) {
		t.Error("leaving lets the next one in, and only that")
	}
	_ = a2.wait(t.Context())
	order.leave(a2)
	if hasCome(all) {
		t.Error("the overview did not wait for the other session")
	}
	order.leave(b1)
	for _, last := range []*turn{all, a3} {
		if err := last.wait(t.Context()); err != nil {
			t.Error(err)
		}
		order.leave(last)
	}
	if len(order.last) != 0 || len(order.present) != 0 {
		t.Errorf("someone stays: %v, %v", order.last, order.present)
	}
}

// If a waiting call is cancelled, the calls behind it do not pass the call before it, in any order of arrival.
func TestTurnsAreGivenUpBeforeTheyCome(t *testing.T) {
	var order turns
	first, second, third := order.take("s"), order.take("s"), order.take("s")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, own := range []*turn{second, third} {
		if err := own.wait(ctx); err == nil {
			t.Error("a turn that has not come")
		}
		order.leave(own)
	}
	fourth := order.take("s")
	if hasCome(fourth) {
		t.Error("the fourth came before the first left")
	}
	order.leave(first)
	if err := fourth.wait(t.Context()); err != nil {
		t.Error(err)
	}
	order.leave(fourth)
	if len(order.last) != 0 || len(order.present) != 0 {
		t.Errorf("someone stays: %v, %v", order.last, order.present)
	}
}

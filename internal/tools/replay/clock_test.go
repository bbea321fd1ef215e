package main

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Times keep their order, and stand between the same hooks as they did.
func TestClockKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := func(low, high int, name string) time.Duration {
			return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * time.Millisecond
		}
		recorded, now := time.Unix(1_000_000, 0), time.Unix(2_000_000, 0)
		var c clock
		for range rapid.IntRange(1, 8).Draw(t, "hooks") {
			c.begin(recorded, now)
			c.end(now.Add(ms(0, 40, "took")))
			recorded = recorded.Add(ms(0, 3000, "gap"))
			now = c.hooks[len(c.hooks)-1].ended.Add(ms(2, 50, "waited"))
		}
		var times []time.Time
		for range 20 {
			times = append(times, time.Unix(1_000_000, 0).Add(ms(-1000, 20_000, "line")))
		}
		slices.SortFunc(times, time.Time.Compare)
		for i, at := range times {
			moved := c.at(at)
			if i > 0 && moved.Before(c.at(times[i-1])) {
				t.Fatalf("%v became %v, before that of %v", at, moved, times[i-1])
			}
			for j, h := range c.hooks {
				last := j == len(c.hooks)-1
				if at.Before(h.recorded) && moved.After(h.begun.Add(time.Millisecond)) {
					t.Fatalf("%v became %v, after the hook that began at %v", at, moved, h.begun)
				}
				if !last && at.After(h.recorded) && moved.Before(h.ended) {
					t.Fatalf("%v became %v, before the end of the hook at %v", at, moved, h.ended)
				}
			}
		}
	})
}

func TestRedate(t *testing.T) {
	recorded, now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	var c clock
	c.begin(recorded, now)
	c.end(now.Add(10 * time.Millisecond))
	c.begin(recorded.Add(time.Second), now.Add(110*time.Millisecond))
	got := string(c.redate([]byte(`{"timestamp":"2026-01-02T03:04:05.500Z","text":"at 2026-01-02T03:04:05.500Z"}`)))
	if want := `{"timestamp":"2031-01-01T00:00:00.060Z","text":"at 2026-01-02T03:04:05.500Z"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

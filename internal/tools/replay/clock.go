package main

import (
	"regexp"
	"time"
)

// clock maps moments of the recording to moments of the replay.
//
// A transcript's lines carry times, and ctxls compares them with its own clock: was this response before or after the
// compaction that a hook announced? Lines that are months old beside hooks that run now would all be "before". So every time is
// moved to where it stood among the hooks: between the same two, in proportion.
type clock struct {
	hooks []hookTime
}

// hookTime is one hook: when it started in the recording, and when it began and ended here.
type hookTime struct{ recorded, begun, ended time.Time }

// begin notes that the hook of a recorded moment begins now.
func (c *clock) begin(recorded, now time.Time) {
	c.hooks = append(c.hooks, hookTime{recorded: recorded, begun: now, ended: now})
}

// end notes that the hook that began last ended now.
func (c *clock) end(now time.Time) { c.hooks[len(c.hooks)-1].ended = now }

// next returns when the hook of a recorded moment is due at the given speed; 0 is as fast as possible.
func (c *clock) next(recorded time.Time, speed float64) time.Time {
	if len(c.hooks) == 0 || speed == 0 {
		return time.Time{}
	}
	last := c.hooks[len(c.hooks)-1]
	return last.begun.Add(time.Duration(float64(recorded.Sub(last.recorded)) / speed))
}

// at returns the moment of the replay that t is in, rounded up to a millisecond as hosts write it.
func (c *clock) at(t time.Time) time.Time {
	const millisecond = time.Millisecond
	before := hookTime{recorded: c.hooks[0].recorded, ended: c.hooks[0].begun}
	if t.Before(before.recorded) {
		return before.ended.Add(t.Sub(before.recorded)).Truncate(millisecond)
	}
	for _, h := range c.hooks {
		if t.Before(h.recorded) {
			share := float64(t.Sub(before.recorded)) / float64(h.recorded.Sub(before.recorded))
			moved := before.ended.Add(time.Duration(share * float64(h.begun.Sub(before.ended))))
			return moved.Add(millisecond - 1).Truncate(millisecond)
		}
		before = h
	}
	return before.begun.Truncate(millisecond)
}

// stamp is a time as Claude Code writes it, alone in a JSON string.
var stamp = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)

const stampLayout = `"2006-01-02T15:04:05.000Z"`

// redate moves every time in a line of a transcript.
func (c *clock) redate(line []byte) []byte {
	return stamp.ReplaceAllFunc(line, func(s []byte) []byte {
		t, err := time.Parse(stampLayout, string(s))
		if err != nil {
			return s
		}
		return []byte(c.at(t).UTC().Format(stampLayout))
	})
}

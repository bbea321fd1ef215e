package main

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/plan"
)

// needs counts, of the items that were marked as superseded or duplicate, those that came to be needed.
type needs struct {
	marked, readAgain, quoted map[plan.Kind]int
}

// follow replays a recording, and takes down each item when it is marked first.
func (n *needs) follow(r recording) {
	if n.marked == nil {
		n.marked, n.readAgain, n.quoted = map[plan.Kind]int{}, map[plan.Kind]int{}, map[plan.Kind]int{}
	}
	seen := map[int]bool{}
	for i := range r.requests {
		found := r.planAt(i, nil)
		gone := map[int]bool{}
		for _, it := range found.Items {
			gone[it.Part] = true
		}
		for _, it := range found.Items {
			if seen[it.Part] {
				continue
			}
			seen[it.Part] = true
			n.marked[it.Kind]++
			if r.asksAgain(it, r.requests[i].parts) {
				n.readAgain[it.Kind]++
			} else if r.quotes(it, gone, r.requests[i].parts) {
				n.quoted[it.Kind]++
			}
		}
	}
}

// asksAgain reports whether a later call made the very call of an item again and got the very result that was taken: its file was
// read again though nothing had changed.
func (r recording) asksAgain(it plan.Item, from int) bool {
	took := r.parts[it.Part]
	if took.Class != plan.Result {
		return false
	}
	call := r.callOf(it.Part)
	for i := from; i < len(r.parts); i++ {
		if p := r.parts[i]; p.Class == plan.Result {
			again := r.callOf(i)
			sameFile := again.Path != "" && again.Path == call.Path && plan.Reads(again.Tool)
			if (sameFile || again.Tool == call.Tool && again.Text == call.Text && it.Kind == plan.Superseded) && p.Text == took.Text {
				return true
			}
		}
	}
	return false
}

// callOf returns the call that a result answers; the zero Part where there is none.
func (r recording) callOf(result int) plan.Part {
	for i := result - 1; i >= 0; i-- {
		if p := r.parts[i]; p.Class == plan.Call && p.CallID == r.parts[result].CallID {
			return p
		}
	}
	return plan.Part{}
}

// quotes reports whether something that was written later has a line of an item that stood nowhere else by then: neither in what a cut
// would have kept, nor in what came since.
func (r recording) quotes(it plan.Item, gone map[int]bool, from int) bool {
	lines := map[string]bool{}
	for _, line := range longLines(r.parts[it.Part].Text) {
		lines[line] = true
	}
	forget := func(text string) {
		for _, line := range longLines(text) {
			delete(lines, line)
		}
	}
	for i, p := range r.parts[:from] {
		if !gone[i] {
			forget(written(p))
		}
	}
	for _, p := range r.parts[from:] {
		if p.Class == plan.Answer || p.Class == plan.Prompt || p.Class == plan.Call {
			for _, line := range longLines(written(p)) {
				if lines[line] {
					return true
				}
			}
		}
		forget(written(p))
	}
	return false
}

// written returns what a part says; of a call, the strings of its input.
func written(p plan.Part) string {
	if p.Class != plan.Call {
		return p.Text
	}
	var text strings.Builder
	plan.EachString(p.Text, func(s string) { text.WriteString(s + "\n") })
	return text.String()
}

func longLines(text string) (lines []string) {
	plan.EachLine(text, func(line string) bool { lines = append(lines, line); return true })
	return lines
}

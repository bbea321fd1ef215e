package main

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/plan"
)

// needs counts the items that were marked, and those of them that came to be needed: what was taken was read again, or quoted. Of the others
// it counts those whose file was read again for what it held by then.
type needs struct {
	marked, readAgain, quoted, readNewer map[plan.Kind]int
}

// follow goes through the plans of a context, and takes down each item when it is marked first.
func (n *needs) follow(l ledger) {
	if n.marked == nil {
		n.marked, n.readAgain, n.quoted, n.readNewer = map[plan.Kind]int{}, map[plan.Kind]int{}, map[plan.Kind]int{}, map[plan.Kind]int{}
	}
	seen := map[int]bool{}
	for i, found := range l.found {
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
			same, newer := l.asksAgain(it, l.requests[i].parts)
			switch {
			case same:
				n.readAgain[it.Kind]++
			case l.quotes(it, gone, l.requests[i].parts):
				n.quoted[it.Kind]++
			case newer:
				n.readNewer[it.Kind]++
			}
		}
	}
}

// asksAgain reports whether a later call made the call of an item again, or read its file, and got the very result that was taken; or else
// got something newer.
func (r recording) asksAgain(it plan.Item, from int) (same, newer bool) {
	took := r.parts[it.Part]
	if took.Class != plan.Result {
		return false, false
	}
	call := r.callOf(it.Part)
	for i := from; i < len(r.parts); i++ {
		if p := r.parts[i]; p.Class == plan.Result {
			again := r.callOf(i)
			sameFile := again.Path != "" && again.Path == call.Path && plan.Reads(again.Tool)
			if sameFile || again.Tool == call.Tool && again.Text == call.Text && it.Kind == plan.Superseded {
				same, newer = same || p.Text == took.Text, true
			}
		}
	}
	return same, newer && !same
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

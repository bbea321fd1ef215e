package session

import (
	"slices"
	"strings"
	"time"
)

// CallResult says how a tool call ended.
type CallResult struct {
	CallID string
	Failed bool
}

// HeldUse is a use of a file by a call whose result has not been seen. Without a Path it says that the call failed, so that
// what is yet to be read of it counts for nothing.
type HeldUse struct {
	CallID string    `json:"callId"`
	Path   string    `json:"path,omitempty"`
	Use    Use       `json:"use,omitempty"`
	At     time.Time `json:"at,omitzero"`
}

// MaxHeld bounds how many uses are held. It is several times what the calls of one response make; the oldest count as made.
const MaxHeld = 100

// at returns the use with the time at which it was made, its path without what surrounds it.
func (u PathUse) at(at time.Time) PathUse {
	u.Path, u.At = strings.TrimSpace(u.Path), at
	return u
}

// use takes note of a use of a file. That of a call which may yet fail is held: a file that could not be read is none that the
// session works on.
func (r *reduction) use(use PathUse) {
	if use.Path == "" {
		return
	}
	if use.CallID == "" {
		r.ch.Paths = append(r.ch.Paths, use)
		return
	}
	known := func(h HeldUse) bool {
		return h.CallID == use.CallID && (h.Path == "" || h.Path == use.Path && h.Use >= use.Use)
	}
	if !slices.ContainsFunc(r.s.Held, known) {
		r.hold(HeldUse{use.CallID, use.Path, use.Use, use.At})
	}
}

func (r *reduction) hold(h HeldUse) {
	r.s.Held = append(slices.Clone(r.s.Held), h)
	if over := len(r.s.Held) - MaxHeld; over > 0 {
		r.made(r.s.Held[:over])
		r.s.Held = r.s.Held[over:]
	}
}

// resolveCall takes over the result of a call.
func (r *reduction) resolveCall(result CallResult) {
	var of, others []HeldUse
	for _, h := range r.s.Held {
		if h.CallID == result.CallID {
			of = append(of, h)
		} else {
			others = append(others, h)
		}
	}
	r.s.Held = others
	if !result.Failed {
		r.made(of)
	} else {
		r.hold(HeldUse{CallID: result.CallID})
	}
}

// resolveAllCalls counts every held use as made. It runs when no call can be running any more.
func (r *reduction) resolveAllCalls() {
	r.made(r.s.Held)
	r.s.Held = nil
}

// made records uses by calls that succeeded, or whose result nobody will tell.
func (r *reduction) made(held []HeldUse) {
	for _, h := range held {
		if h.Path != "" {
			r.ch.Paths = append(r.ch.Paths, PathUse{Path: h.Path, Use: h.Use, At: h.At})
		}
	}
}

// inUse returns the working set with what the event itself added to it, uses included of which nobody knows yet whether they
// succeeded.
func (r *reduction) inUse() []PathUse {
	set := slices.Concat(r.ch.Paths, r.st.WorkingSet)
	for _, h := range r.s.Held {
		if h.Path != "" {
			set = append(set, PathUse{Path: h.Path, Use: h.Use, At: h.At})
		}
	}
	return set
}

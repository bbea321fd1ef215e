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

// HeldUse is the use of a file by a call whose result is not known yet. Without a Path it says that the call failed, so that uses of
// this call which are read later do not count.
type HeldUse struct {
	CallID string    `json:"callId"`
	Path   string    `json:"path,omitempty"`
	Use    Use       `json:"use,omitempty"`
	At     time.Time `json:"at,omitzero"`
}

// MaxHeld bounds the held uses. It is several times the number of calls in one response. Beyond it, the oldest count as successful.
const MaxHeld = 100

// at returns the use with its time, and its path without surrounding characters.
func (u PathUse) at(at time.Time) PathUse {
	u.Path, u.At = strings.TrimSpace(u.Path), at
	return u
}

// use records the use of a file. A use by a call that may still fail is held, since a file that could not be read is not in use.
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

// resolveCall handles the result of a call.
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

// resolveAllCalls counts every held use as successful. It runs when no call can be running any more.
func (r *reduction) resolveAllCalls() {
	r.made(r.s.Held)
	r.s.Held = nil
}

// made records uses by calls that succeeded, or whose result is never reported.
func (r *reduction) made(held []HeldUse) {
	for _, h := range held {
		if h.Path != "" {
			r.ch.Paths = append(r.ch.Paths, PathUse{Path: h.Path, Use: h.Use, At: h.At})
		}
	}
}

// inUse returns the working set together with the uses of this event. It includes uses whose calls have no result yet.
func (r *reduction) inUse() []PathUse {
	set := slices.Concat(r.ch.Paths, r.st.WorkingSet)
	for _, h := range r.s.Held {
		if h.Path != "" {
			set = append(set, PathUse{Path: h.Path, Use: h.Use, At: h.At})
		}
	}
	return set
}

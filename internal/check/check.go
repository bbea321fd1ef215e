// Package check defines a check of ctxls doctor: hosts and doctor make checks, and the ui package draws them.
package check

// Check is one thing that doctor looked at, and what it found.
type Check struct {
	Group  string `json:"group"`  // the topic: ctxls, settings, state, a host, sessions
	Name   string `json:"name"`   // what was checked
	Status Status `json:"status"` // ok, warn, fail or skip
	What   string `json:"what"`   // what was found
	Hint   string `json:"hint"`   // what to do about it; "" is nothing
}

// Status is the result of a check.
type Status string

// The statuses.
const (
	OK   Status = "ok"
	Warn Status = "warn" // it works, but maybe not as the user expects
	Fail Status = "fail" // it does not work
	Skip Status = "skip" // there is nothing to check
)

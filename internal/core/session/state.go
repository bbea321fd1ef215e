package session

import (
	"time"

	"github.com/ctxls/ctxls/internal/core/fleet"
)

// State is the input of a decision.
type State struct {
	Snapshot
	Known   bool // the session is stored
	Learned LearnedWindow
	// Calibration is the calibration of the query's model. If none is stored, it only has the model and the encoding. It is zero if none
	// was asked for or there is no model.
	Calibration Calibration
	Tasks       fleet.TaskSums
	Alert       fleet.AlertGate
	Rules       Rules // of the session's host; set by Service
}

// Snapshot is one session as stored, with its working set.
type Snapshot struct {
	Session    Session
	WorkingSet []PathUse // at most MaxWorkingSet, the most recently used first
}

// Changes are what a decision wants to save. Zero fields change nothing.
type Changes struct {
	Session     *Session // replaces the stored session
	Delete      bool     // deletes the session of the query and everything that belongs to it
	MaxSessions int      // with Session: deletes the sessions without events for the longest time beyond this many; 0 keeps all
	Paths       []PathUse
	Samples     []Sample
	Learned     *LearnedWindow // replaces the stored one of its host, provider and model; one without content removes it
	Calibration *Calibration   // replaces the stored one of its model and encoding
	Task        *fleet.Task    // one entry for each ID: a repeat keeps the larger figure
	WindowTasks int            // with Task: the ring's length
	Alert       *fleet.AlertGate
	Trim        *fleet.TrimCount // added to the counters
}

// Sample is one point of a session's history.
type Sample struct {
	At           time.Time  `json:"at"`
	Tokens       int        `json:"tokens"` // occupancy; for a compaction, the occupancy after it
	WindowTokens int        `json:"windowTokens"`
	Kind         SampleKind `json:"kind"`
}

// SampleKind is the kind of a sample.
type SampleKind string

// The kinds of sample.
const (
	SampleUsage      SampleKind = "usage"      // a report
	SampleEstimate   SampleKind = "estimate"   // an estimate, if nothing is reported
	SampleCompaction SampleKind = "compaction" // a compaction, with the occupancy after it
)

// LearnedWindow is what was learned about a model's window from requests that the provider accepted and refused.
type LearnedWindow struct {
	Host           Host   `json:"host"`           // the program in which the agent ran
	Provider       string `json:"provider"`       // who served the model
	Model          string `json:"model"`          // the plain name, see model.Plain
	AcceptedTokens int    `json:"acceptedTokens"` // the largest request known to have been accepted
	StatedTokens   int    `json:"statedTokens"`   // the maximum that a refusal stated; 0 is none
	// CompactedTokens is the occupancy at which the host compacted by itself, if that was earlier than expected; 0 is none. It holds for
	// one session only, since a setting of the user may be the reason.
	CompactedTokens int       `json:"compactedTokens,omitempty"`
	Why             string    `json:"why"` // for people: what proved it
	At              time.Time `json:"at"`  // when it was proved
}

package session

import (
	"time"

	"github.com/ctxls/ctxls/internal/core/fleet"
)

// State is everything that a decision may depend on.
type State struct {
	Snapshot
	Known   bool // the session is stored
	Learned LearnedWindow
	// Calibration is that of the query's model. Where none is stored it only names the model and the encoding; it is zero
	// where none was asked for or there is no model.
	Calibration Calibration
	Tasks       fleet.TaskSums
	Alert       fleet.AlertGate
	Rules       Rules // of the session's host; Service fills them in
}

// Snapshot is one session as stored, with its working set.
type Snapshot struct {
	Session    Session
	WorkingSet []PathUse // at most MaxWorkingSet, the most recently used first
}

// Changes is what a decision wants saved. Zero fields change nothing.
type Changes struct {
	Session     *Session // replaces the stored session
	Delete      bool     // forgets the session of the query and everything that belongs to it
	MaxSessions int      // with Session: forget the longest silent sessions beyond this many; 0 keeps all
	Paths       []PathUse
	Samples     []Sample
	Learned     *LearnedWindow // replaces the one stored for its host, provider and model; one that teaches nothing removes it
	Calibration *Calibration   // replaces the one stored for its model and encoding
	Task        *fleet.Task    // one entry an ID: a repeat keeps the larger figure
	WindowTasks int            // with Task: the ring's length
	Alert       *fleet.AlertGate
	Trim        *fleet.TrimCount // added to the counters
}

// Sample is one point of a session's history.
type Sample struct {
	At           time.Time  `json:"at"`
	Tokens       int        `json:"tokens"` // occupancy; after a compaction what it fell to
	WindowTokens int        `json:"windowTokens"`
	Kind         SampleKind `json:"kind"`
}

// SampleKind says what made a sample.
type SampleKind string

// The kinds of sample.
const (
	SampleUsage      SampleKind = "usage"      // a report
	SampleEstimate   SampleKind = "estimate"   // an estimate where nothing is reported
	SampleCompaction SampleKind = "compaction" // a compaction, with what it fell to
)

// LearnedWindow is what was learned about a model's window from what its provider accepted and refused.
type LearnedWindow struct {
	Host           Host   `json:"host"`           // the program that the agent ran in
	Provider       string `json:"provider"`       // who served the model
	Model          string `json:"model"`          // in its plain spelling, see model.Plain
	AcceptedTokens int    `json:"acceptedTokens"` // the largest request known to have been accepted
	StatedTokens   int    `json:"statedTokens"`   // the maximum that a refusal stated; 0 is none
	// CompactedTokens is the occupancy at which the host compacted by itself, earlier than it was taken to; 0 is none. It holds for
	// one session: the user's settings may be the reason.
	CompactedTokens int       `json:"compactedTokens,omitempty"`
	Why             string    `json:"why"` // for people: what proved it
	At              time.Time `json:"at"`  // when it was proved
}

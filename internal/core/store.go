package core

import (
	"context"
	"time"
)

// Store keeps the state that every ctxls process shares. All methods are safe for many goroutines, and any number of
// processes may have the same store open. Errors of the store itself carry CodeUnavailable or CodeInternal.
type Store interface {
	// Update loads what q asks for, calls decide with it, and saves the changes that decide returns, all in one transaction
	// that no other writer can come between. decide may be called once only, must not call the store, and should be quick:
	// every other process waits. When Update returns nil, the changes outlive a crash of the process.
	Update(ctx context.Context, q Query, decide func(State) Changes) error
	// Session returns one session with its working set, or an error with CodeNotFound.
	Session(ctx context.Context, key Key) (Snapshot, error)
	// FindSessions returns the sessions whose id is id, whatever their host; none is no error.
	FindSessions(ctx context.Context, id string) ([]Snapshot, error)
	// Sessions returns the sessions that match f, the most recently updated first.
	Sessions(ctx context.Context, f SessionFilter) ([]Snapshot, error)
	// Samples returns the newest samples of a session, oldest first; all of them when limit is 0. Some thousands are kept: the
	// older, the fewer, but every compaction.
	Samples(ctx context.Context, key Key, limit int) ([]Sample, error)
	// Changed returns what has changed since a revision, which an earlier Feed told; 0 is before everything. Who is woken
	// by Watch learns here what it was, whichever process made it.
	Changed(ctx context.Context, since int64) (Feed, error)
	// Fleet returns what the figures across all sessions are made of.
	Fleet(ctx context.Context, windowTasks int) (Fleet, error)
	// Windows returns every learned window.
	Windows(ctx context.Context) ([]LearnedWindow, error)
	// Watch wakes whoever may want to ask Changed. The channel receives within a fraction of a second of a change that any
	// process commits after the call, once for changes that are not yet received, and now and then without one. Watching ends
	// with ctx; the channel is never closed.
	Watch(ctx context.Context) <-chan struct{}
	Close() error
}

// Query says what Update loads. Only what is asked for is read.
type Query struct {
	Key Key // the session; the zero Key loads none
	// Provider and Model choose the learned window; "" stands for those of the stored session.
	Provider, Model string
	WorkingSet      bool // load Snapshot.WorkingSet
	// Calibration asks for what is known of how the model counts in this encoding; "" loads none.
	Calibration string
	// Task names the task that may be recorded, given the stored session: load the ring's sums with it in mind. Nil, and ""
	// from it, load none.
	Task          func(Session) string
	TaskThreshold int // tokens above which a task counts as exceeding
	WindowTasks   int // the length of the ring
}

// State is everything that a decision may depend on.
type State struct {
	Snapshot
	Known   bool // the session is stored
	Learned LearnedWindow
	// Calibration is that of the query's model. Where none is stored it only names the model and the encoding; it is zero
	// where none was asked for or there is no model.
	Calibration Calibration
	Tasks       TaskSums
	Alert       AlertGate
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
	Learned     *LearnedWindow
	Calibration *Calibration // replaces the one stored for its model and encoding
	Task        *Task        // one entry an ID: a repeat keeps the larger figure
	WindowTasks int          // with Task: the ring's length
	Alert       *AlertGate
	Trim        *TrimCount // added to the counters
}

// Feed is what has changed in the store since a revision. Every save of a session, of its paths or its samples, and every
// removal of one has a revision of its own, greater than all before it.
type Feed struct {
	Revision int64      // the newest, to ask with the next time
	Sessions []Snapshot // saved since, as they are now, in the order of their last saving
	Removed  []Key      // removed since and not saved again, in the order of their removal; not told when Whole
	// Whole says that Sessions are all there are, and that others which the watcher may know of are gone: since was 0, was a
	// revision of a store that this one has replaced, or was so long ago that the store has forgotten what was removed.
	Whole bool
	Alert AlertGate // as it is now
}

// SessionFilter selects sessions. The zero value selects those that have not ended.
type SessionFilter struct {
	Host         Host
	Folders      []string // sessions whose working directory is one of these or below one; none selects everywhere
	IncludeEnded bool
	Limit        int // 0 is no limit
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
	Host           Host      `json:"host"`           // the program that the agent ran in
	Provider       string    `json:"provider"`       // who served the model
	Model          string    `json:"model"`          // in its plain spelling, see PlainModel
	AcceptedTokens int       `json:"acceptedTokens"` // the largest request known to have been accepted
	StatedTokens   int       `json:"statedTokens"`   // the maximum that a refusal stated; 0 is none
	Why            string    `json:"why"`            // for people: what proved it
	At             time.Time `json:"at"`             // when it was proved
}

// Task is one unit of agent work whose context is recorded for the fleet figures.
type Task struct {
	ID     string
	Tokens int
	At     time.Time
}

// TaskSums are what deciding about an alert needs to know of the ring before a task is recorded.
type TaskSums struct {
	Tasks, Exceeding int
	Recorded         int  // tokens already recorded for the task of the query
	IsRecorded       bool // the task of the query is in the ring
	OldestExceeds    bool // the ring is full and the entry that would fall out is one of Exceeding
	Full             bool // recording a new task makes the oldest fall out
}

// AlertGate keeps the fleet alert from repeating, across all processes.
type AlertGate struct {
	At   time.Time // when it last fired; zero is never
	Rate float64   // the rate it told, 0–1
}

// TrimCount counts what trimming saved.
type TrimCount struct {
	Operations int // trims that removed or cleared something
	Tokens     int // tokens that they saved
}

// Fleet is what the figures across all sessions are made of.
type Fleet struct {
	Tokens []int // one entry a task in the ring, newest first
	Since  time.Time
	Trim   TrimCount
	Alert  AlertGate
}

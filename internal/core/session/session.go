package session

import (
	"time"

	"github.com/ctxls/ctxls/internal/core/model"
)

// Session is what is stored of one conversation. Its JSON form is what a store may keep; clients see SessionView.
type Session struct {
	Host      Host   `json:"host"`
	SessionID string `json:"sessionId"`
	CWD       string `json:"cwd,omitempty"` // its project: where it was started
	Title     string `json:"title,omitempty"`
	Model     string `json:"model,omitempty"`
	Provider  string `json:"provider,omitempty"`
	HostPID   int    `json:"hostPid,omitempty"`
	// Transcript is the file that the host writes the conversation to; "" where there is none, or none was named yet.
	Transcript string `json:"transcript,omitempty"`

	Gauge Gauge `json:"gauge"` // the main chain
	// Speaker is the sub-agent that the model answered last, "" for the main chain; kept where Rules.ToolsUnnamed.
	Speaker string       `json:"speaker,omitempty"`
	Agents  []Agent      `json:"agents,omitempty"` // sub-agents, oldest first, at most MaxAgents
	Limits  model.Limits `json:"limits"`
	// Settings are the user's own of where the host compacts; HostVersion is of the host that wrote its record.
	Settings    model.Settings `json:"settings,omitzero"`
	HostVersion string         `json:"hostVersion,omitempty"`
	// Spelled says that Model is known with its options, such as "[1m]", not as a record that leaves them out has it.
	Spelled bool `json:"spelled,omitempty"`
	// Proof is what this session has shown of its model's window.
	Proof LearnedWindow `json:"proof,omitzero"`

	Tail Tail `json:"tail,omitzero"` // of the main chain

	Held       []HeldUse  `json:"held,omitempty"` // at most MaxHeld
	Compaction Compaction `json:"compaction"`
	Cursor     Cursor     `json:"cursor"` // how far the transcript has been read

	// Marked says that a mark went with the latest prompt, and that nothing has happened since that makes a newer figure known.
	Marked             bool      `json:"marked,omitempty"`
	GuidedAt           time.Time `json:"guidedAt,omitzero"`           // the marks were explained
	RemindedAt         time.Time `json:"remindedAt,omitzero"`         // the reminder was given
	ThresholdCrossedAt time.Time `json:"thresholdCrossedAt,omitzero"` // occupancy reached the handoff mark
	HandoffSaid        bool      `json:"handoffSaid,omitempty"`
	HandoffComplete    bool      `json:"handoffComplete,omitempty"`
	HistorySeen        bool      `json:"historySeen,omitempty"` // the working set was seeded from history

	// Recorded says that the session is known from the host's record alone: no hook has told of it.
	Recorded bool `json:"recorded,omitempty"`

	Turns        int       `json:"turns,omitempty"`        // prompts so far
	PromptAt     time.Time `json:"promptAt,omitzero"`      // of the last prompt of a person
	PromptLength int       `json:"promptLength,omitempty"` // characters
	PromptText   string    `json:"promptText,omitempty"`   // only where configuration asks to keep it
	PromptID     string    `json:"promptId,omitempty"`
	Growth       []int     `json:"growth,omitempty"`     // tokens each of the last turns added, oldest first
	TurnPeak     int       `json:"turnPeak,omitempty"`   // the most that was reported since the turn began
	TurnTokens   int       `json:"turnTokens,omitempty"` // occupancy when the turn began; 0 is unknown
	Awaiting     bool      `json:"awaiting,omitempty"`   // the model was asked and no report of its answer has come since
	AskedAt      time.Time `json:"askedAt,omitzero"`     // when it was asked last, as far as events tell; older reports are of before
	Prepared     bool      `json:"prepared,omitempty"`   // its tasks are recorded by its caller

	StartedAt time.Time `json:"startedAt,omitzero"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"` // zero while it lives
}

// Key returns what identifies the session.
func (s Session) Key() Key { return Key{s.Host, s.SessionID} }

// project returns the session's directory with an event taken into account. It is where the session was started or resumed: the
// agent's shell may go anywhere, and a sub-agent work elsewhere.
func (s Session) Project(ev Event) string {
	if s.CWD == "" || ev.CWD != "" && ev.Kind == SessionStarted && ev.AgentID == "" {
		return ev.CWD
	}
	return s.CWD
}

// cursor returns how far the transcript of one of the session's agents has been read, that of the main chain for "".
func (s Session) CursorOf(agentID string) Cursor {
	if agentID == "" {
		return s.Cursor
	}
	for _, a := range s.Agents {
		if a.AgentID == agentID {
			return a.Cursor
		}
	}
	return Cursor{}
}

// Gauge is what is known of how full one agent's window is.
type Gauge struct {
	Known      bool       `json:"known,omitempty"`  // false: nobody knows
	Tokens     int        `json:"tokens,omitempty"` // occupancy as of At
	Provenance Provenance `json:"provenance,omitempty"`
	At         time.Time  `json:"at,omitzero"`
	// Appended is the estimate of what has come into the window since. It is negative where more was forgotten.
	Appended int `json:"appended,omitempty"`
	// Below and Above say how far below and above Tokens the truth may lie where Tokens is an estimate.
	Below int `json:"below,omitempty"`
	Above int `json:"above,omitempty"`
	// Behind says that the host has made another response since, whose figures have not been seen yet.
	Behind bool `json:"behind,omitempty"`
	// Recent holds the tuples of the last responses without their output, newest last. A status line carries no time: one that repeats a tuple
	// describes that response again.
	Recent []UsageTuple `json:"recent,omitempty"`
}

// Agent is a sub-agent of a session with its own gauge.
type Agent struct {
	AgentID   string       `json:"agentId"`
	AgentType string       `json:"agentType,omitempty"`
	Model     string       `json:"model,omitempty"`
	Limits    model.Limits `json:"limits,omitzero"` // of its model, where its own transcript states them
	Gauge     Gauge        `json:"gauge"`
	Cursor    Cursor       `json:"cursor"`             // in its own transcript
	Awaiting  bool         `json:"awaiting,omitempty"` // as of a Session
	AskedAt   time.Time    `json:"askedAt,omitzero"`
	UpdatedAt time.Time    `json:"updatedAt,omitzero"`
	EndedAt   time.Time    `json:"endedAt,omitzero"`
}

// MaxAgents bounds how many sub-agents of a session are kept; the longest silent go first.
const MaxAgents = 32

// Compaction is where a session stands with being compacted.
type Compaction struct {
	Count int `json:"count,omitempty"` // finished ones
	// OpenedAt is set between opening and Done.
	OpenedAt time.Time `json:"openedAt,omitzero"`
	Frozen   []string  `json:"frozen,omitempty"` // the working set when it opened, as the host was told it
	Told     bool      `json:"told,omitempty"`   // the agent reads what the host was told, after the compaction
	// Opened says that the last finished one was announced; OwnID names one that was not: another name is another compaction.
	Opened bool   `json:"opened,omitempty"`
	OwnID  string `json:"ownId,omitempty"`
	// BeganAt is the opening of the last finished one (where none was seen, the earliest it can have been), DoneAt its end: a report from before
	// DoneAt never counts again.
	BeganAt time.Time `json:"beganAt,omitzero"`
	DoneAt  time.Time `json:"doneAt,omitzero"`
	// ClearedAt is when old tool results were last cleared in place: no compaction, but what was reported before is over, too.
	ClearedAt time.Time `json:"clearedAt,omitzero"`
	IDs       []string  `json:"ids,omitempty"` // of the last few, to know a repeat
	// Lost are paths that the last summary does not mention, still to be told to the agent. Where Whole is set nobody saw the
	// summary, and they are the whole working context, with Omitted more; so many were left out of Frozen, too.
	Lost    []string `json:"lost,omitempty"`
	Whole   bool     `json:"whole,omitempty"`
	Omitted int      `json:"omitted,omitempty"`
	// Owed is what of before the last one is still to be given back; Spent is how many tokens of the user's words were.
	Owed  Owed `json:"owed,omitempty"`
	Spent int  `json:"spent,omitempty"`
}

// PathUse is one use of a file by a session.
type PathUse struct {
	Path string // as the host gave it; sanitised only where shown
	Use  Use
	At   time.Time
	// CallID names the tool call that uses it, where it is not known yet whether the call succeeds; stores keep none.
	CallID string
}

// Use says how a file was used. A larger one weighs more.
type Use int

// The uses, from the lightest to the heaviest.
const (
	Mentioned Use = iota + 1 // in a prompt, a pattern or a command
	Read
	Edited
)

// MaxWorkingSet bounds how many paths of a session are kept; the least recently used go first.
const MaxWorkingSet = 500

// IdleAfter is how long a session may be silent before it counts as idle.
const IdleAfter = 30 * time.Minute

// ChangesAt returns when clients come to see the session differently though nothing happens: it counts as idle, or its
// compaction as failed. The zero time is never.
func (s Session) ChangesAt(now time.Time) time.Time {
	var next time.Time
	if s.EndedAt.IsZero() && now.Sub(s.UpdatedAt) <= IdleAfter {
		next = s.UpdatedAt.Add(IdleAfter)
	}
	if opened := s.Compaction.Expire(now).OpenedAt; !opened.IsZero() {
		if fails := opened.Add(openingExpires); next.IsZero() || fails.Before(next) {
			next = fails
		}
	}
	return next
}

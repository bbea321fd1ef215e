package session

import (
	"time"

	"github.com/ctxls/ctxls/internal/core/model"
)

// Session is what is stored of one conversation. Its JSON form is what a store may keep; clients see SessionView.
type Session struct {
	Host      Host   `json:"host"`
	SessionID string `json:"sessionId"`
	CWD       string `json:"cwd,omitempty"` // its project: the directory where it was started
	Title     string `json:"title,omitempty"`
	Model     string `json:"model,omitempty"`
	Provider  string `json:"provider,omitempty"`
	HostPID   int    `json:"hostPid,omitempty"` // 0 is unknown, NoProcess is none
	// Transcript is the file to which the host writes the conversation; "" if there is none, or it is not known yet.
	Transcript string `json:"transcript,omitempty"`

	Gauge Gauge `json:"gauge"` // the main chain
	// Speaker is the sub-agent that the model answered last, "" for the main chain. It is stored if Rules.ToolsUnnamed is set.
	Speaker string       `json:"speaker,omitempty"`
	Agents  []Agent      `json:"agents,omitempty"` // sub-agents, oldest first, at most MaxAgents
	Limits  model.Limits `json:"limits"`
	// Settings are the user's settings of where the host compacts. HostVersion is the version of the host that wrote the record.
	Settings    model.Settings `json:"settings,omitzero"`
	HostVersion string         `json:"hostVersion,omitempty"`
	// Spelled says that Model is known with its options, such as "[1m]". Some records leave these out.
	Spelled bool `json:"spelled,omitempty"`
	// Proof is what this session proved about its model's window.
	Proof LearnedWindow `json:"proof,omitzero"`

	Tail Tail `json:"tail,omitzero"` // of the main chain

	Held       []HeldUse  `json:"held,omitempty"` // at most MaxHeld
	Compaction Compaction `json:"compaction"`
	Cursor     Cursor     `json:"cursor"` // how far the transcript has been read

	// Marked says that the latest prompt had a mark, and that no event since has made a newer figure known.
	Marked             bool      `json:"marked,omitempty"`
	GuidedAt           time.Time `json:"guidedAt,omitzero"`           // the marks were explained
	RemindedAt         time.Time `json:"remindedAt,omitzero"`         // the reminder was given
	ThresholdCrossedAt time.Time `json:"thresholdCrossedAt,omitzero"` // when occupancy reached the handoff threshold
	HandoffSaid        bool      `json:"handoffSaid,omitempty"`
	HandoffComplete    bool      `json:"handoffComplete,omitempty"`
	HistorySeen        bool      `json:"historySeen,omitempty"` // the working set was seeded from history

	// Recorded says that the session is known only from the host's record: no hook has reported it.
	Recorded bool `json:"recorded,omitempty"`

	Turns        int       `json:"turns,omitempty"`        // prompts so far
	PromptAt     time.Time `json:"promptAt,omitzero"`      // of the user's last prompt
	PromptLength int       `json:"promptLength,omitempty"` // characters
	PromptText   string    `json:"promptText,omitempty"`   // only if the settings ask for it
	PromptID     string    `json:"promptId,omitempty"`
	Growth       []int     `json:"growth,omitempty"`     // tokens that each of the last turns added, oldest first
	TurnPeak     int       `json:"turnPeak,omitempty"`   // the largest reported occupancy of the turn
	TurnTokens   int       `json:"turnTokens,omitempty"` // occupancy when the turn began; 0 is unknown
	Awaiting     bool      `json:"awaiting,omitempty"`   // the model was called, and no report of its answer has come yet
	AskedAt      time.Time `json:"askedAt,omitzero"`     // the last time of a call, as far as events show; older reports are from before
	Prepared     bool      `json:"prepared,omitempty"`   // its tasks are recorded by its caller

	// Pruned is what its host leaves out of its requests; PruneOff says that the user has undone that.
	Pruned   []PrunedPart `json:"pruned,omitempty"`
	PruneOff bool         `json:"pruneOff,omitempty"`

	StartedAt time.Time `json:"startedAt,omitzero"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"` // zero while it lives
}

// PrunedPart is a part of a message that a host leaves out of its requests: its id, which member of it is replaced, and the text that
// stands there instead.
type PrunedPart struct {
	PartID string `json:"partId"`
	What   string `json:"what"`
	Text   string `json:"text,omitempty"`
}

// Key returns the key of the session.
func (s Session) Key() Key { return Key{s.Host, s.SessionID} }

// Project returns the session's directory after an event. It is the directory where the session was started or resumed, since the shell
// of the agent may change its directory, and a sub-agent may work elsewhere.
func (s Session) Project(ev Event) string {
	if s.CWD == "" || ev.CWD != "" && ev.Kind == SessionStarted && ev.AgentID == "" {
		return ev.CWD
	}
	return s.CWD
}

// CursorOf returns the cursor in the transcript of one of the session's agents; "" is the main chain.
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

// Gauge is the known occupancy of one agent's window.
type Gauge struct {
	Known      bool       `json:"known,omitempty"`  // false: unknown
	Tokens     int        `json:"tokens,omitempty"` // occupancy as of At
	Provenance Provenance `json:"provenance,omitempty"`
	At         time.Time  `json:"at,omitzero"`
	// Appended is the estimated content since the report. It is negative if more was forgotten.
	Appended int `json:"appended,omitempty"`
	// Below and Above are the possible errors of Tokens, in tokens, if it is an estimate.
	Below int `json:"below,omitempty"`
	Above int `json:"above,omitempty"`
	// Behind says that the host made another response since, whose figures are not known yet.
	Behind bool `json:"behind,omitempty"`
	// Recent holds the tuples of the last responses without their output, newest last. A status line has no time: if it repeats a tuple,
	// it describes that response again.
	Recent []UsageTuple `json:"recent,omitempty"`
}

// Agent is a sub-agent of a session with its own gauge.
type Agent struct {
	AgentID   string       `json:"agentId"`
	AgentType string       `json:"agentType,omitempty"`
	Model     string       `json:"model,omitempty"`
	Limits    model.Limits `json:"limits,omitzero"` // of its model, from its own transcript
	Gauge     Gauge        `json:"gauge"`
	Cursor    Cursor       `json:"cursor"`             // in its own transcript
	Awaiting  bool         `json:"awaiting,omitempty"` // as of a Session
	AskedAt   time.Time    `json:"askedAt,omitzero"`
	UpdatedAt time.Time    `json:"updatedAt,omitzero"`
	EndedAt   time.Time    `json:"endedAt,omitzero"`
}

// MaxAgents bounds the stored sub-agents of a session; those without events for the longest time are dropped first.
const MaxAgents = 32

// Compaction is the state of a session's compactions.
type Compaction struct {
	Count int `json:"count,omitempty"` // finished ones
	// OpenedAt is set between the opening and the end.
	OpenedAt time.Time `json:"openedAt,omitzero"`
	Frozen   []string  `json:"frozen,omitempty"` // the working set at the opening, as the host got it
	Told     bool      `json:"told,omitempty"`   // the agent will read the text for the summary after the compaction
	// Opened says that the last finished compaction was announced. OwnID is the ID of one that was not: another ID is another
	// compaction.
	Opened bool   `json:"opened,omitempty"`
	OwnID  string `json:"ownId,omitempty"`
	// BeganAt is when the last finished compaction opened, or the earliest possible time if no opening was seen. DoneAt is its end.
	// Reports from before DoneAt never count again.
	BeganAt time.Time `json:"beganAt,omitzero"`
	DoneAt  time.Time `json:"doneAt,omitzero"`
	// ClearedAt is when old tool results were last cleared in place. This is no compaction, but reports from before do not count any
	// more either.
	ClearedAt time.Time `json:"clearedAt,omitzero"`
	IDs       []string  `json:"ids,omitempty"` // of the last ones, to recognize a repeat
	// Lost are paths that the last summary does not mention and that the agent still has to be told. Whole says that no summary was
	// seen, so that Lost is the whole working context. Omitted is the number of paths left out of it, and of Frozen.
	Lost    []string `json:"lost,omitempty"`
	Whole   bool     `json:"whole,omitempty"`
	Omitted int      `json:"omitted,omitempty"`
	// Owed is what still has to be given back from before the last compaction. Spent is the tokens of the user's words in it.
	Owed  Owed `json:"owed,omitempty"`
	Spent int  `json:"spent,omitempty"`
	// Rest is the tokens of the messages that the last compaction left, by the host, until a request is reported. Base is the tokens of
	// the system prompt and the tools, as far as requests tell.
	Rest int `json:"rest,omitempty"`
	Base int `json:"base,omitempty"`
}

// PathUse is one use of a file by a session.
type PathUse struct {
	Path string // as the host spelled it; sanitized only for display
	Use  Use
	At   time.Time
	// CallID identifies the tool call if it is not known yet whether the call succeeds. Stores do not keep it.
	CallID string
}

// Use says how a file was used. A larger value weighs more.
type Use int

// The uses, from the lightest to the heaviest.
const (
	Mentioned Use = iota + 1 // in a prompt, a pattern or a command
	Read
	Edited
)

// MaxWorkingSet bounds the stored paths of a session; the least recently used are dropped first.
const MaxWorkingSet = 500

// NoProcess is the HostPID of a session that no process runs, by the host's own list of its processes.
const NoProcess = -1

// IdleAfter is the time without events after which a session counts as idle.
const IdleAfter = 30 * time.Minute

// ChangesAt returns when the view of the session changes without an event: it becomes idle, or its compaction counts as failed. The zero
// time is never.
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

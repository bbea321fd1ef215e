package session

import (
	"time"

	"github.com/ctxls/ctxls/internal/core/model"
)

// Kind says what happened in a host.
type Kind string

// The kinds of event. A host's adapter maps the host's own names onto them.
const (
	SessionStarted   Kind = "sessionStarted"   // a session began, was resumed, forked or cleared
	SessionEnded     Kind = "sessionEnded"     // its host closed it; what is known of it is kept
	SessionDeleted   Kind = "sessionDeleted"   // its host deleted it, or the sub-agent; everything of it is forgotten
	PromptSubmitted  Kind = "promptSubmitted"  // a turn begins
	ToolStarting     Kind = "toolStarting"     // a tool is about to run
	ToolFinished     Kind = "toolFinished"     // one tool ran, with or without success
	BatchFinished    Kind = "batchFinished"    // all parallel tools of one response ran
	UsageReported    Kind = "usageReported"    // the host told its own figures
	CompactionOpened Kind = "compactionOpened" // the host is about to replace history with a summary
	CompactionDone   Kind = "compactionDone"   // it did
	TurnFinished     Kind = "turnFinished"     // the model ended its turn
	TurnFailed       Kind = "turnFailed"       // the turn ended with an error of the provider
	AgentStarted     Kind = "agentStarted"     // a sub-agent began
	AgentFinished    Kind = "agentFinished"    // a sub-agent ended
	HandoffCompleted Kind = "handoffCompleted" // the work was handed to another session
	RecordRead       Kind = "recordRead"       // the host's record of the session was found and read, without a hook
	HistorySeen      Kind = "historySeen"      // earlier conversation was shown, e.g. when ctxls first meets a session
	Seen             Kind = "seen"             // something ctxls takes note of and answers with nothing
)

// Event is something that happened in a host, in host-neutral form. A zero field means that the host did not say.
type Event struct {
	Host      Host
	SessionID string
	Kind      Kind
	Name      string    // the host's own name of it, e.g. "PostToolBatch"; how the adapter knows what to answer
	At        time.Time // when it happened; zero means now

	CWD      string // the agent's working directory, absolute
	Title    string
	Model    string // as the host spells it, with any "[1m]"
	Provider string
	HostPID  int // the host's process

	// AgentID is set when the event comes from inside a sub-agent. Nothing in such an event touches the main gauge.
	AgentID   string
	AgentType string

	Prompt  string // of PromptSubmitted
	Machine bool   // of PromptSubmitted: a turn that no person typed, such as a task notification
	// PromptID tells a prompt from all others of its session, where the host does: a second event with it, from a host that runs
	// ctxls twice, is about the same prompt.
	PromptID string
	Paths    []PathUse
	Results  []CallResult // of calls whose uses came with a CallID
	// Content is what the event adds to the conversation, after its Reports. Where a host has a transcript it stays empty:
	// the same comes with the Reading.
	Content []Piece
	// Reports are usage figures that came with the event, oldest first; those of a transcript come in its Reading.
	Reports []Report
	Limits  model.Limits // the host's own figures of the model's limits
	// Settings are the user's as they are now; nil where the event does not say.
	Settings *model.Settings
	Limit    *LimitError // a request that the provider refused as too long
	// CompactedBy describes the compaction of CompactionDone. A nil one is a Done that tells nothing more.
	CompactedBy *Boundary

	// Asked says of CompactionOpened that the caller asks for the working context, whatever the settings say.
	Asked bool
	// Echoed says of CompactionOpened that the agent will read what the host takes in return, too, after the compaction.
	Echoed bool

	// Accepts lists the effects that the host takes in return for this event. Reduce wants nothing else done, so that what
	// counts as said was said.
	Accepts []EffectKind
	// Guarded says that the directory which tracking.guardDir names exists in the workspace, or that none is named. Service
	// fills it in.
	Guarded bool

	// Carried is what the host's record tells of before a compaction. Service fills it in where Owing says so.
	Carried *Carried

	// Transcript is the file the host writes the conversation to; AgentTranscript that of the sub-agent AgentID.
	Transcript      string
	AgentTranscript string
	// Reading is what was newly read from the transcript. Service fills it in before Reduce sees the event.
	Reading *Reading
}

// tellsNothing reports whether the event brings no content and no figure, of its own or from a transcript.
func (e Event) tellsNothing() bool {
	return (e.Reading == nil || len(e.Reading.Entries) == 0) && len(e.Reports) == 0 && len(e.Content) == 0 && len(e.Paths) == 0
}

// Key returns the session that the event belongs to.
func (e Event) Key() Key { return Key{e.Host, e.SessionID} }

// LimitError is what a provider's refusal of a too long request states, in tokens; 0 where it does not say.
type LimitError struct {
	SentTokens, MaxTokens int
}

// Provenance says where a number comes from.
type Provenance string

// From the most to the least direct. A number from ProvenanceEstimate is never told to a model that did not ask.
const (
	ProvenanceHost       Provenance = "host"       // the host's status line
	ProvenanceTranscript Provenance = "transcript" // the host's record of the conversation
	ProvenanceReported   Provenance = "reported"   // sent by an adapter
	ProvenanceEstimate   Provenance = "estimate"   // worked out by ctxls
)

// Report is one statement of how many tokens the model's window held for one response.
type Report struct {
	At         time.Time  // when the response was made; zero where the source carries no time (a status line)
	Tuple      UsageTuple // as the provider counted it
	Tokens     int        // occupancy by the provider's arithmetic
	Provenance Provenance
	Model      string
	Requested  string // the model as it was asked for, with any "[1m]"; "" is unknown
	MessageID  string
	// Late says that the report was written down after the results of the calls that its response made: the newest of what was
	// added before it is not in it.
	Late bool
}

// before reports whether the response was made before a moment: its report may be read only after that. Hosts note times in
// milliseconds.
func (rep Report) before(at time.Time) bool {
	return !rep.At.IsZero() && rep.At.Before(at.Truncate(time.Millisecond))
}

// UsageTuple is a provider's own count for one response, in tokens. Two reports with one tuple describe one response.
type UsageTuple struct {
	Input      int `json:"input"`
	CacheRead  int `json:"cacheRead"`
	CacheWrite int `json:"cacheWrite"`
	Output     int `json:"output"`
}

// IsZero reports whether nothing was counted: a placeholder that hosts write before the first response, after a
// compaction and for errors. It says "unknown", not "empty".
func (u UsageTuple) IsZero() bool { return u.Input == 0 && u.CacheRead == 0 && u.CacheWrite == 0 }

// Boundary describes one finished compaction.
type Boundary struct {
	ID         string    // the host's id or time of it; "" where it has none. A second one with the same ID is a repeat
	At         time.Time // zero means now
	PreTokens  int       // occupancy before; 0 is unknown
	PostTokens int       // what the conversation was cut down to; 0 is unknown
	Summary    string    // the text that replaced it, where the host shows it
	// Automatic says that the host did it by itself, because the window was as full as it allows.
	Automatic bool
	// Micro is a compaction that clears old tool results in place: how full the window is afterwards is unknown until the
	// next report.
	Micro bool
	// Cleared are the ids of the calls whose results a Micro one cleared, where the host says so.
	Cleared []string
}

// Cursor is a place in a transcript. A file is known by device and inode, since the same file may go by several paths.
type Cursor struct {
	Device uint64 `json:"device,omitempty"`
	Inode  uint64 `json:"inode,omitempty"`
	Offset int64  `json:"offset,omitempty"` // bytes; the first byte not yet read
}

// SameFile reports whether both cursors are in one file.
func (c Cursor) SameFile(d Cursor) bool { return c.Device == d.Device && c.Inode == d.Inode }

// Reading is what one read of a transcript found. It covers the bytes from From to Cursor.Offset.
type Reading struct {
	From   int64
	Cursor Cursor
	// Restarted says that the file is not the one that the given cursor was in, or was cut or rewritten below it: the stored
	// cursor is void, whatever its offset, and so is the rule that nothing below it counts.
	Restarted bool
	Entries   []Entry // in file order
}

// Turn is the beginning of a turn as a record tells it.
type Turn struct {
	Machine bool // no person typed the prompt
	Length  int  // of the prompt, in characters
}

// Entry is one line of a transcript that means something to ctxls. Exactly one of its pointers is set, or none where the
// line only carries Title, Limits, Paths, Results or Content.
type Entry struct {
	Offset   int64 // of the line's first byte
	Earlier  bool  // Boundary lies before all that tells of the present: it is counted and changes nothing else
	At       time.Time
	Report   *Report
	Boundary *Boundary
	Limit    *LimitError
	Turn     *Turn // of a record alone: hooks tell turns by themselves
	Title    string
	Version  string       // of the host that wrote the line
	Limits   model.Limits // what the line states of the model's limits
	Paths    []PathUse
	Results  []CallResult
	// Content is what the line adds to the conversation. The report of an answer stands before the answer's content or in
	// the same entry.
	Content []Piece
}

package session

import (
	"time"

	"github.com/ctxls/ctxls/internal/core/model"
)

// Kind is the kind of an event in a host.
type Kind string

// The kinds of event. The adapter of a host maps the host's own names to them.
const (
	SessionStarted   Kind = "sessionStarted"   // a session began, was resumed, forked or cleared
	SessionEnded     Kind = "sessionEnded"     // the host closed it; what is known of it is kept
	SessionDeleted   Kind = "sessionDeleted"   // the host deleted it, or the sub-agent; all data about it is deleted
	PromptSubmitted  Kind = "promptSubmitted"  // a turn begins
	ToolStarting     Kind = "toolStarting"     // a tool is about to run
	ToolFinished     Kind = "toolFinished"     // one tool ran, with or without success
	BatchFinished    Kind = "batchFinished"    // all parallel tools of one response ran
	UsageReported    Kind = "usageReported"    // the host reported its own figures
	CompactionOpened Kind = "compactionOpened" // the host is about to replace history with a summary
	CompactionDone   Kind = "compactionDone"   // it did
	TurnFinished     Kind = "turnFinished"     // the model ended its turn
	TurnFailed       Kind = "turnFailed"       // the turn ended with an error of the provider
	AgentStarted     Kind = "agentStarted"     // a sub-agent began
	AgentFinished    Kind = "agentFinished"    // a sub-agent ended
	HandoffCompleted Kind = "handoffCompleted" // another session takes over the work
	RecordRead       Kind = "recordRead"       // the host's record of the session was read, without a hook
	HistorySeen      Kind = "historySeen"      // earlier conversation was shown, for example when ctxls first sees a session
	Seen             Kind = "seen"             // recorded, but never answered
)

// Event is an event of a host, in a form that is the same for all hosts. A zero field means that the host did not report it.
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
	HostPID  int // the host's process; 0 is unknown, NoProcess is none

	// AgentID is set if the event comes from inside a sub-agent. Such an event never changes the gauge of the main chain.
	AgentID   string
	AgentType string

	Prompt  string // of PromptSubmitted
	Machine bool   // of PromptSubmitted: the host started the turn, for example with a task notification
	// PromptID identifies a prompt in its session, if the host has such an ID. A second event with the same ID is about the same prompt;
	// a host that runs ctxls twice sends one.
	PromptID string
	Paths    []PathUse
	Results  []CallResult // of calls whose uses had a CallID
	// Content is the content that the event adds to the conversation, after its Reports. It is empty for a host with a transcript, whose
	// Reading has the same content.
	Content []Piece
	// Reports are usage figures in the event itself, oldest first. Those of a transcript are in its Reading.
	Reports []Report
	Limits  model.Limits // the model's limits as the host states them
	// Settings are the user's current settings; nil if the event does not state them.
	Settings *model.Settings
	Limit    *LimitError // a request that the provider refused as too long
	// CompactedBy describes the compaction of CompactionDone; nil adds nothing.
	CompactedBy *Boundary

	// Asked says of CompactionOpened that the caller asks for the working context, whatever the settings say.
	Asked bool
	// Echoed says of CompactionOpened that the agent will also read the text for the summary, after the compaction.
	Echoed bool

	// Accepts lists the effects that the host takes in return for this event. Reduce asks for no others, so that every text that counts
	// as said was said.
	Accepts []EffectKind
	// Guarded says that the directory of tracking.guardDir exists in the workspace, or that the setting is empty. Service sets it.
	Guarded bool

	// Carried is the part of the host's record from before a compaction. Service sets it if Owing says so.
	Carried *Carried
	// WithoutPaths says that the files which a summary lost are not listed, since agents hardly ever use such a list. Service sets it.
	WithoutPaths bool

	// Transcript is the file to which the host writes the conversation; AgentTranscript is that of the sub-agent AgentID.
	Transcript      string
	AgentTranscript string
	// Reading is the new part of the transcript. Service sets it before Reduce sees the event.
	Reading *Reading
}

// tellsNothing reports whether the event has no content and no figure, neither itself nor from a transcript.
func (e Event) tellsNothing() bool {
	return (e.Reading == nil || len(e.Reading.Entries) == 0) && len(e.Reports) == 0 && len(e.Content) == 0 && len(e.Paths) == 0
}

// Key returns the session that the event belongs to.
func (e Event) Key() Key { return Key{e.Host, e.SessionID} }

// LimitError is the content of a provider's refusal of a too long request, in tokens; 0 is not stated.
type LimitError struct {
	SentTokens, MaxTokens int
}

// Provenance says where a number comes from.
type Provenance string

// From the most to the least direct. Models get a number from ProvenanceEstimate only if they ask.
const (
	ProvenanceHost       Provenance = "host"       // the host's status line
	ProvenanceTranscript Provenance = "transcript" // the host's record of the conversation
	ProvenanceReported   Provenance = "reported"   // sent by an adapter
	ProvenanceEstimate   Provenance = "estimate"   // worked out by ctxls
)

// Report is one statement of the tokens in the model's window for one response.
type Report struct {
	At         time.Time  // when the response was made; zero if the source has no time (a status line)
	Tuple      UsageTuple // as the provider counted it
	Tokens     int        // occupancy by the provider's arithmetic
	Provenance Provenance
	Model      string
	Requested  string // the model as it was asked for, with any "[1m]"; "" is unknown
	MessageID  string
	// Late says that the report was recorded after the results of the response's calls: it does not include the newest content before
	// it.
	Late bool
}

// before reports whether the response was made before a time; the report may be read later. Hosts record times in milliseconds.
func (rep Report) before(at time.Time) bool {
	return !rep.At.IsZero() && rep.At.Before(at.Truncate(time.Millisecond))
}

// UsageTuple is a provider's own count for one response, in tokens. Two reports with the same tuple describe the same response.
type UsageTuple struct {
	Input      int `json:"input"`
	CacheRead  int `json:"cacheRead"`
	CacheWrite int `json:"cacheWrite"`
	Output     int `json:"output"`
}

// IsZero reports whether nothing was counted. Hosts write such a placeholder before the first response, after a compaction and for
// errors. It means unknown, not empty.
func (u UsageTuple) IsZero() bool { return u.Input == 0 && u.CacheRead == 0 && u.CacheWrite == 0 }

// Boundary describes one finished compaction.
type Boundary struct {
	ID         string    // the host's id or time of it; "" where it has none. A second one with the same ID is a repeat
	At         time.Time // zero means now
	PreTokens  int       // occupancy before; 0 is unknown
	PostTokens int       // the remaining size; 0 is unknown
	// Messages says that PostTokens counts the messages alone, without the system prompt and the tools.
	Messages bool
	Summary  string // the text that replaced it, if the host shows it
	// Automatic says that the host compacted by itself because the window was full.
	Automatic bool
	// Micro is a compaction that clears old tool results in place. The occupancy after it is unknown until the next report.
	Micro bool
	// Cleared are the IDs of the calls whose results a Micro compaction cleared, if the host states them.
	Cleared []string
}

// Cursor is a position in a transcript. Device and inode identify the file, since one file may have several paths.
type Cursor struct {
	Device uint64 `json:"device,omitempty"`
	Inode  uint64 `json:"inode,omitempty"`
	Offset int64  `json:"offset,omitempty"` // bytes; the first byte that was not read
}

// SameFile reports whether both cursors are in one file.
func (c Cursor) SameFile(d Cursor) bool { return c.Device == d.Device && c.Inode == d.Inode }

// Reading is the result of reading a part of a transcript: the bytes from From to Cursor.Offset.
type Reading struct {
	From   int64
	Cursor Cursor
	// Restarted says that the file is not the file of the given cursor, or was cut or rewritten before it. The stored cursor is then
	// void, and bytes before it count again.
	Restarted bool
	Entries   []Entry // in file order
}

// Turn is the beginning of a turn in a record.
type Turn struct {
	Machine bool // no person typed the prompt
	Length  int  // of the prompt, in characters
}

// Entry is one line of a transcript that ctxls uses. At most one of its pointers is set. None is set if the line only has Title, Limits,
// Paths, Results or Content.
type Entry struct {
	Offset   int64 // of the line's first byte
	Earlier  bool  // Boundary is older than the present state: it is counted and changes nothing else
	At       time.Time
	Report   *Report
	Boundary *Boundary
	Limit    *LimitError
	Turn     *Turn // only from a record: hooks report turns themselves
	Title    string
	Version  string       // of the host that wrote the line
	Limits   model.Limits // the model's limits that the line states
	Paths    []PathUse
	Results  []CallResult
	// Content is the content that the line adds to the conversation. The report of an answer comes before the answer's content or in the
	// same entry.
	Content []Piece
}

package push

import (
	"encoding/json"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Batch is what one machine sends at once: figures, and names of hosts and models. It never holds a path, a title, a prompt or
// any other text of a conversation. Instants are in milliseconds since 1970 UTC, 0 where there is none.
type Batch struct {
	Machine string `json:"machine"` // a UUID that the machine made up
	Claim   string `json:"claim"`   // as in Claim.Next
	Now     int64  `json:"now"`
	// Since is the cursor that the sender knows of. Revision is the one after this batch; 0 says that another batch of the same
	// transaction follows.
	Since    int64 `json:"since"`
	Revision int64 `json:"revision"`

	Whole    bool      `json:"whole,omitempty"`   // forget every session of the machine first
	Removed  []string  `json:"removed,omitempty"` // sessions to forget, before Sessions are taken
	Days     []string  `json:"days,omitempty"`    // of Samples and Tasks, in UTC, as 20060102
	Sessions []Session `json:"sessions,omitempty"`
	Samples  []Sample  `json:"samples,omitempty"`
	Tasks    []Task    `json:"tasks,omitempty"`
	Trims    *Trims    `json:"trims,omitempty"` // nil where they are as before
}

// Session is the state of one session.
type Session struct {
	Session          string          `json:"session"` // a hash, see Redaction
	Host             session.Host    `json:"host"`
	Provider         string          `json:"provider"`
	Model            string          `json:"model"`
	Project          string          `json:"project"` // as Redaction leaves it
	StartedAt        int64           `json:"started"`
	UpdatedAt        int64           `json:"updated"`
	EndedAt          int64           `json:"ended"`
	Compactions      int             `json:"compactions"`
	Compacting       bool            `json:"compacting"`
	Gone             bool            `json:"gone"` // the process of its host is known to be gone
	Seq              int64           `json:"seq"`  // the number after that of its last sample
	Tokens           *int            `json:"tokens"`
	WindowTokens     int             `json:"window"`
	CompactionTokens *int            `json:"compaction"`
	ToCompaction     *int            `json:"left"`
	Level            *core.Level     `json:"level"`
	Usage            json.RawMessage `json:"usage"` // core.Usage without WindowWhy
}

// Sample is one point of a session's history. There are many: names are short.
type Sample struct {
	Session string             `json:"s"`
	Seq     int64              `json:"q"`
	At      int64              `json:"a"`
	Tokens  int                `json:"t"`
	Window  int                `json:"w"`
	Kind    session.SampleKind `json:"k"`
}

// Task is one task. Host, Model and Project are those of the session whose turn it was, "" where a caller recorded it.
type Task struct {
	Seq     int64        `json:"q"`
	At      int64        `json:"a"`
	Tokens  int          `json:"t"`
	Host    session.Host `json:"h"`
	Model   string       `json:"m"`
	Project string       `json:"p"`
}

// Trims are the machine's counters of what trimming saved.
type Trims struct {
	Operations int `json:"operations"`
	Tokens     int `json:"tokens"`
}

// Claim says which pusher speaks for a machine from now on.
type Claim struct {
	Machine  string   `json:"machine"`
	Known    []string `json:"known"` // the claims that this machine made before, any of which may be the last that arrived
	Next     string   `json:"next"`  // a UUID of this claim
	TakeOver bool     `json:"takeOver,omitempty"`
	Team     string   `json:"team"`
	Version  string   `json:"version"` // of ctxls-fleet
	Schema   int      `json:"schema"`  // that the sender knows
	Now      int64    `json:"now"`
}

// Cursor is how far a machine has been copied.
type Cursor struct {
	Revision int64           `json:"revision"`
	Sessions map[string]Sent `json:"sessions"`
}

// Sent is what is known of a session at the other end.
type Sent struct {
	StartedAt int64 `json:"started"`
	Seq       int64 `json:"seq"` // the number of the first sample that is missing
}

// millis returns an instant as batches have it.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

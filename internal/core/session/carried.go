package session

import (
	"fmt"
	"slices"
	"time"
)

// Carried is what the host's record still tells of before a compaction, chosen to be given back. It is read for one event and never
// stored.
type Carried struct {
	For      Owed    // what it answers: another event may have given it back since
	Words    []Quote // prompts of the user, oldest first
	Commands []Ran   // the likeliest to be needed first
	// WordTokens is how many tokens the words take. SummarySeen says that they were compared with what the compaction left.
	WordTokens  int
	SummarySeen bool
	Recallable  bool // the agent can search the record with the tool recall
}

// Owed says what of before a compaction is still to be given back.
type Owed string

// What can be owed.
const (
	OwedNothing Owed = ""
	OwedAll     Owed = "all"   // words and commands
	OwedEnded   Owed = "ended" // words of the window that ended, which were not compared with the summary yet
)

// Owing returns what the event may give back if the host's record is read for it. Most events give back nothing.
func (s Session) Owing(ev Event, rules Rules) Owed {
	if ev.AgentID != "" || !slices.Contains(ev.Accepts, Inject) && !slices.Contains(ev.Accepts, AppendToolOutput) {
		return OwedNothing
	}
	switch {
	case ev.Kind == CompactionDone:
		return OwedAll
	case ev.Kind == PromptSubmitted && !ev.Machine, ev.Kind == BatchFinished, ev.Kind == ToolFinished && !rules.BatchEvent:
		return s.Compaction.Owed
	}
	return OwedNothing
}

// Quote is a prompt of the user as it is quoted.
type Quote struct {
	Text string // on one line, cut
	At   time.Time
	Age  string // such as "3 h ago"; "" is unknown
}

// Line returns the line that quotes it.
func (q Quote) Line() string {
	if q.Age == "" {
		return fmt.Sprintf("  - \"%s\"", q.Text)
	}
	return fmt.Sprintf("  - %s: \"%s\"", q.Age, q.Text)
}

// Ran is a command that was run.
type Ran struct {
	Command string // as shown
	Times   int
	Age     string // since the last run
	Failed  bool   // the last run failed
}

// Line returns the line that names it.
func (c Ran) Line() string {
	s := fmt.Sprintf("  - `%s` (%dx", c.Command, c.Times)
	if c.Age != "" {
		s += ", " + c.Age
	}
	if c.Failed {
		s += ", failed"
	}
	return s + ")"
}

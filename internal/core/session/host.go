package session

import (
	"slices"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Host names the program that runs an agent.
type Host string

// Names of hosts that tests and defaults need. Which hosts there are says package registry: nothing here decides by a name.
const (
	HostClaudeCode Host = "claude-code"
	HostOpenCode   Host = "opencode"
	HostCodex      Host = "codex"
	HostGeminiCLI  Host = "gemini-cli"
	HostGeneric    Host = "generic"
)

// CheckHost returns an error with coded.Invalid for a host that is not among those that are known.
func CheckHost(host Host, known []Host) error {
	if !slices.Contains(known, host) {
		return coded.Field("host", "use %s; got %q", text.OneOf(known), text.Sanitize(string(host), 60))
	}
	return nil
}

// Key identifies a session: one conversation in one host. A directory never does, since two sessions may share one.
type Key struct {
	Host      Host
	SessionID string
}

// Rules is what differs between hosts, as data that the host's adapter hands in.
type Rules struct {
	// Provider serves the model when no payload says otherwise, e.g. "anthropic" for Claude Code; "" when it cannot be known.
	Provider string
	// BatchEvent says that the host reports once after a whole batch of parallel tool calls. What is said after tools is
	// then said there: one copy instead of one a call.
	BatchEvent bool
	// CountsOutput says that the host counts the answer's tokens into occupancy, and so do its reports.
	CountsOutput bool
	// SummaryVisible says that the summary is handed over after a compaction, so that it can be compared with the working
	// set. Where it is not, the whole working context is injected after the compaction.
	SummaryVisible bool
	// Silent says that the host may never report how full the window is. Occupancy is then estimated from what passes by.
	Silent bool
	// ChildSessions says that the host runs sub-agents in sessions of their own, and that not every event of such a session
	// names the one at the top. The store knows which they are.
	ChildSessions bool
	// Fall says how a compaction is recognised that the host tells nobody of.
	Fall FallRule
	// ToolsUnnamed says that events of tools do not name the sub-agent that a tool ran for. It is then the agent that the
	// model answered last.
	ToolsUnnamed bool
	// GuideLate says that what the marks mean is told with the first mark, not when the session starts: the host has no good
	// place for it there, or may never have a mark to explain.
	GuideLate bool
	// SuffixHidden says that the host's records leave out the "[1m]" of a model id. What a session proves of a window then holds
	// for others only where the id was spelled out for both.
	SuffixHidden bool
	// Tools are the host's names of tools by what their results look like.
	Tools map[string]ToolClass
	// SummarizesAhead says that the host may write a summary before it compacts, and discards it when a hook has text for the
	// summary. Then the files in use are handed over only where the user asks for it.
	SummarizesAhead bool
	// CompactsAfterPrompt says that the host may compact between the hook of a prompt and the request with that prompt, which then
	// carries the mark from before the compaction.
	CompactsAfterPrompt bool
	// Compaction says where the host compacts.
	Compaction model.CompactionRule
}

// FallRule says from when on a fall of occupancy between two reports is a compaction: Percent of what it was, and Tokens at
// least. The zero value means that the host announces its compactions.
type FallRule struct {
	Percent int // 1–100
	Tokens  int
}

// Compacted reports whether a fall in tokens, from one report to the next, is a compaction.
func (f FallRule) Compacted(before, after int) bool {
	return f.Percent > 0 && before-after >= f.Tokens && (before-after)*100 >= before*f.Percent
}

// MaxID bounds ids of sessions and tasks, in bytes. Hosts use UUIDs and the like.
const MaxID = 512

// CheckID returns an error with CodeInvalid unless the member that is named holds a usable id.
func CheckID(member, id string) error {
	switch {
	case id == "":
		return coded.Field(member, "required, expected a string that is not empty")
	case len(id) > MaxID:
		return coded.Field(member, "expected at most %d bytes, got %d", MaxID, len(id))
	}
	return nil
}

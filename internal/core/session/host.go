package session

import (
	"slices"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Host names the program that runs an agent.
type Host string

// The names of hosts for tests and defaults. Package registry lists the hosts; this package decides nothing by a name.
const (
	HostClaudeCode Host = "claude-code"
	HostOpenCode   Host = "opencode"
	HostCodex      Host = "codex"
	HostGeminiCLI  Host = "gemini-cli"
	HostGeneric    Host = "generic"
)

// CheckHost returns an error with coded.Invalid for an unknown host.
func CheckHost(host Host, known []Host) error {
	if !slices.Contains(known, host) {
		return coded.Field("host", "use %s; got %q", text.OneOf(known), text.Sanitize(string(host), 60))
	}
	return nil
}

// Key identifies a session: one conversation in one host. A directory is no key, since two sessions may share it.
type Key struct {
	Host      Host
	SessionID string
}

// Rules are the differences between hosts, as data from the host's adapter.
type Rules struct {
	// Provider is the provider of the model if no payload names one, for example "anthropic" for Claude Code; "" is unknown.
	Provider string
	// BatchEvent says that the host sends one event after a whole batch of parallel tool calls. Texts after tools then go there: one
	// copy instead of one for each call.
	BatchEvent bool
	// CountsOutput says that the host and its reports include the answer's tokens in the occupancy.
	CountsOutput bool
	// SummaryVisible says that the host shows the summary of a compaction, so that ctxls can compare it with the working set. For other
	// hosts, ctxls injects the whole working context after the compaction.
	SummaryVisible bool
	// Silent says that the host may never report its occupancy. ctxls then estimates it from the content of events.
	Silent bool
	// ChildSessions says that the host runs sub-agents in their own sessions, and that some events of such a session do not name the top
	// session. The store knows the relation.
	ChildSessions bool
	// Fall describes how to recognize a compaction that the host does not report.
	Fall FallRule
	// ToolsUnnamed says that tool events do not name the sub-agent for which a tool ran. It is then the agent that the model answered
	// last.
	ToolsUnnamed bool
	// GuideLate says that the first mark comes with the explanation of the marks, instead of the session start. Such a host has no good
	// place for text at the start, or may never have a mark.
	GuideLate bool
	// SuffixHidden says that the host's records leave out the "[1m]" of a model ID. What a session proves of a window then holds only
	// for sessions whose ID is also known in full.
	SuffixHidden bool
	// Tools maps the host's names of tools to the form of their results.
	Tools map[string]ToolClass
	// SummarizesAhead says that the host may write a summary before it compacts, and discards it when a hook has text for the summary.
	// Then the summarizer gets the files in use only if the user asks for it.
	SummarizesAhead bool
	// CompactsAfterPrompt says that the host may compact between the hook of a prompt and the request with that prompt. The request then
	// contains the mark from before the compaction.
	CompactsAfterPrompt bool
	// OwnCount is a sentence for the explanation of the marks that says what the host's own number of tokens left is, unless the user's
	// settings make it agree with the window; "" if the host tells the model none.
	OwnCount string
	// TurnGrowth is how many tokens a turn is expected to add before others of the session are known; 0 stands for 8,000.
	TurnGrowth int
	// CompactionLeaves is about how many tokens a compaction leaves beside the system prompt and the tools, whatever there was before; 0 is
	// unknown.
	CompactionLeaves int
	// Compaction is the rule for where the host compacts.
	Compaction model.CompactionRule
}

// FallRule says which fall of occupancy between two reports is a compaction: at least Percent of the occupancy before, and at least
// Tokens. The zero value is for a host that announces its compactions.
type FallRule struct {
	Percent int // 1–100
	Tokens  int
}

// Compacted reports whether a fall in tokens, from one report to the next, is a compaction.
func (f FallRule) Compacted(before, after int) bool {
	return f.Percent > 0 && before-after >= f.Tokens && (before-after)*100 >= before*f.Percent
}

// MaxID bounds IDs of sessions and tasks, in bytes. Hosts use UUIDs and similar IDs.
const MaxID = 512

// CheckID returns an error with coded.Invalid about the member unless it holds a usable ID.
func CheckID(member, id string) error {
	switch {
	case id == "":
		return coded.Field(member, "required, expected a string that is not empty")
	case len(id) > MaxID:
		return coded.Field(member, "expected at most %d bytes, got %d", MaxID, len(id))
	}
	return nil
}

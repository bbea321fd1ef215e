package generic

import (
	"encoding/json"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Version is that of the vocabulary. It rises when an event that was right before would be refused or mean something else.
const Version = 1

// Event is one thing that happened in an agent, as its wiring tells it. The tags say what docs/generic-events.schema.json
// and every error say: on lists the events that take a member (none listed: all do), not those that do not, need that
// those that take it want it, min and max the bounds of a number or the most characters of a string.
type Event struct {
	Version   int    `json:"version" min:"1" max:"1" doc:"Of this vocabulary. Absent means 1."`
	Name      string `json:"event" need:"true" max:"40" doc:"What happened."`
	SessionID string `json:"sessionId" need:"true" max:"256" doc:"The conversation: any name that no other one of the agent's has."`

	CWD      string `json:"cwd" max:"4096" doc:"The directory that the session works in, absolute."`
	Title    string `json:"title" max:"300" doc:"What the session is called."`
	Model    string `json:"model" max:"200" doc:"The model's id as the agent spells it. It tells the window where windowTokens does not."`
	Provider string `json:"provider" max:"100" doc:"Who serves the model, such as anthropic, openai or google."`
	HostPID  int    `json:"hostPid" min:"1" max:"2147483647" doc:"The agent's process. A session whose process is gone counts as idle."`

	AgentID   string `json:"agentId" not:"session/deleted" max:"256" doc:"The sub-agent that it happened in. Nothing of it moves the session's own gauge; session/started and session/ended are then the sub-agent's."`
	AgentType string `json:"agentType" not:"session/deleted" max:"100" doc:"What kind of sub-agent it is."`

	WindowTokens    int `json:"windowTokens" min:"1" max:"2147483647" doc:"The model's whole context window, in tokens."`
	MaxInputTokens  int `json:"maxInputTokens" min:"1" max:"2147483647" doc:"A limit on input of its own, where the provider has one."`
	MaxOutputTokens int `json:"maxOutputTokens" min:"1" max:"2147483647" doc:"The longest answer."`

	Accepts []session.EffectKind `json:"accepts" doc:"The effects that the agent can carry out in return for this event. Absent means what the event usually allows; an empty list, none."`

	Text    string `json:"text" on:"prompt turn/finished" max:"67108864" doc:"What the person wrote; of turn/finished what the model answered."`
	Machine bool   `json:"machine" on:"prompt" doc:"No person typed it. Nothing is said in return."`

	Tool   string          `json:"tool" on:"tool/started tool/finished" max:"200" doc:"The tool's name."`
	CallID string          `json:"callId" on:"tool/started tool/finished" max:"256" doc:"Of the call."`
	Input  json.RawMessage `json:"input" on:"tool/finished" doc:"What the tool was called with, any JSON."`
	Output string          `json:"output" on:"tool/finished" max:"67108864" doc:"What it gave back, as the model reads it."`
	Failed bool            `json:"failed" on:"tool/finished" doc:"It ended with an error: its files count as mentioned."`
	Paths  []Path          `json:"paths" on:"prompt tool/started tool/finished history" doc:"The files that it is about."`

	Tokens           int `json:"tokens" on:"usage/reported" need:"true" min:"1" max:"2147483647" doc:"What the model was given for its last response, in tokens, with everything that was read from or written to a cache."`
	OutputTokens     int `json:"outputTokens" on:"usage/reported" min:"0" max:"2147483647" doc:"What it answered."`
	CacheReadTokens  int `json:"cacheReadTokens" on:"usage/reported" min:"0" max:"2147483647" doc:"The part of tokens that was read from a cache."`
	CacheWriteTokens int `json:"cacheWriteTokens" on:"usage/reported" min:"0" max:"2147483647" doc:"The part of tokens that was written to a cache."`

	CompactionID string `json:"compactionId" on:"compaction/done" max:"256" doc:"Names the compaction. A second event with the same id is a repeat."`
	PreTokens    int    `json:"preTokens" on:"compaction/done" min:"1" max:"2147483647" doc:"What the window held before."`
	PostTokens   int    `json:"postTokens" on:"compaction/done" min:"1" max:"2147483647" doc:"What was left."`
	Summary      string `json:"summary" on:"compaction/done" max:"67108864" doc:"The text that replaced the conversation. Files that it does not name are told to the agent again; without it all are."`

	Messages []Message `json:"messages" on:"history" doc:"What was said before ctxls met the session, oldest first. Counted once a session."`
}

// Path is one use of a file.
type Path struct {
	Path string `json:"path" need:"true" max:"4096" doc:"Absolute, or relative to cwd."`
	Use  string `json:"use" need:"true" enum:"mentioned read edited" doc:"How it was used."`
}

// Message is one part of an earlier conversation.
type Message struct {
	Role string `json:"role" need:"true" enum:"user assistant tool" doc:"Who said it."`
	Text string `json:"text" max:"67108864" doc:"What."`
}

// An occurrence is what an event means, and which effects its answer usually allows.
type occurrence struct {
	name    string
	kind    session.Kind
	accepts []session.EffectKind
	doc     string
}

// occurrences is the vocabulary, in the order in which people are shown it.
var occurrences = []occurrence{
	{"session/started", session.SessionStarted, nil, "A session began or was resumed."},
	{"session/ended", session.SessionEnded, nil, "It was closed. What is known of it stays."},
	{"session/deleted", session.SessionDeleted, nil, "It was deleted. Everything of it is forgotten."},
	{"prompt", session.PromptSubmitted, []session.EffectKind{session.Inject}, "A turn begins."},
	{"tool/started", session.ToolStarting, nil, "A tool is about to run."},
	{"tool/finished", session.ToolFinished, []session.EffectKind{session.AppendToolOutput}, "It ran, with or without success."},
	{"turn/finished", session.TurnFinished, nil, "The model ended its turn."},
	{"usage/reported", session.UsageReported, nil, "The provider said how much the window holds."},
	{"compaction/opening", session.CompactionOpened, []session.EffectKind{session.CompactionContext}, "The agent is about to replace its history by a summary."},
	{"compaction/done", session.CompactionDone, []session.EffectKind{session.Inject}, "It did."},
	{"handoff/completed", session.HandoffCompleted, nil, "The work was handed to another session."},
	{"history", session.HistorySeen, nil, "What happened before ctxls met the session."},
}

var uses = map[string]session.Use{"mentioned": session.Mentioned, "read": session.Read, "edited": session.Edited}

var classes = map[string]session.PieceClass{"user": session.InjectedText, "assistant": session.AnswerText, "tool": session.ToolResult}

// choices are what the strings of a member or of its elements may be; nil is anything. A switch beside the types, since
// tags cannot hold what is made elsewhere.
func choices(member, enum string) []string {
	switch member {
	case "event":
		var names []string
		for _, o := range occurrences {
			names = append(names, o.name)
		}
		return names
	case "accepts":
		return []string{string(session.Inject), string(session.AppendToolOutput), string(session.CompactionContext)}
	}
	return words(enum)
}

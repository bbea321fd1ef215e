package claudecode

import (
	"strconv"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/toolpath"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// statusLine is the name that the payload of the status line goes by here: it carries none itself.
const statusLine = "StatusLine"

// kinds says what the host's events are. One that is not listed is Seen.
var kinds = map[string]session.Kind{
	statusLine:           session.UsageReported,
	"SessionStart":       session.SessionStarted,
	"SessionEnd":         session.SessionEnded,
	"UserPromptSubmit":   session.PromptSubmitted,
	"PreToolUse":         session.ToolStarting,
	"PostToolUse":        session.ToolFinished,
	"PostToolUseFailure": session.ToolFinished,
	"PostToolBatch":      session.BatchFinished,
	"PreCompact":         session.CompactionOpened,
	"PostCompact":        session.CompactionDone,
	"Stop":               session.TurnFinished,
	"StopFailure":        session.TurnFailed,
	"SubagentStart":      session.AgentStarted,
	"SubagentStop":       session.AgentFinished,
}

// payload is the raw members of a payload that mean something here.
type payload struct {
	transcript, agentID, agentType, agentTranscript []byte
	source, model, contextTokens                    []byte // SessionStart
	prompt, promptID                                []byte // UserPromptSubmit
	toolName, toolInput, toolUseID, toolCalls       []byte // tool events
	trigger, summary                                []byte // PreCompact, PostCompact
	errorDetails, lastMessage                       []byte // StopFailure
	contextWindow, sessionName, workspace           []byte // status line
}

// Decode turns what a hook or the status line is given on stdin into an event. name is "StatusLine" for the latter;
// hooks name their event themselves. A payload over 64 MiB, one that is no JSON object, and one without session_id or
// event are errors with coded.Invalid. Members of an unexpected type count as missing: hosts change.
func (a *Adapter) Decode(name string, data []byte) (session.Event, error) {
	var p payload
	ev, err := transcript.Hook(Name, kinds, name, data,
		transcript.Field{Name: "transcript_path", Value: &p.transcript},
		transcript.Field{Name: "agent_id", Value: &p.agentID},
		transcript.Field{Name: "agent_type", Value: &p.agentType},
		transcript.Field{Name: "agent_transcript_path", Value: &p.agentTranscript},
		transcript.Field{Name: "source", Value: &p.source},
		transcript.Field{Name: "model", Value: &p.model},
		transcript.Field{Name: "context_tokens", Value: &p.contextTokens},
		transcript.Field{Name: "prompt", Value: &p.prompt},
		transcript.Field{Name: "prompt_id", Value: &p.promptID},
		transcript.Field{Name: "tool_name", Value: &p.toolName},
		transcript.Field{Name: "tool_input", Value: &p.toolInput},
		transcript.Field{Name: "tool_use_id", Value: &p.toolUseID},
		transcript.Field{Name: "tool_calls", Value: &p.toolCalls},
		transcript.Field{Name: "trigger", Value: &p.trigger},
		transcript.Field{Name: "compact_summary", Value: &p.summary},
		transcript.Field{Name: "error_details", Value: &p.errorDetails},
		transcript.Field{Name: "last_assistant_message", Value: &p.lastMessage},
		transcript.Field{Name: "context_window", Value: &p.contextWindow},
		transcript.Field{Name: "session_name", Value: &p.sessionName},
		transcript.Field{Name: "workspace", Value: &p.workspace},
	)
	if err != nil {
		return session.Event{}, err
	}
	ev.AgentID, ev.AgentType, ev.HostPID = transcript.String(p.agentID), transcript.String(p.agentType), a.pid
	ev.Transcript, ev.AgentTranscript = transcript.String(p.transcript), transcript.String(p.agentTranscript)
	if ev.AgentID != "" && ev.AgentTranscript == "" {
		ev.AgentTranscript = agentTranscript(ev.Transcript, ev.AgentID)
	}
	if name == statusLine { // whatever its payload says
		ev.Name, ev.Kind = statusLine, kinds[statusLine]
	}
	ev.Accepts = accepts(ev.Name)
	if a.getenv != nil && (ev.Kind == session.SessionStarted || ev.Kind == session.PromptSubmitted) {
		s := settingsFor(host.HookEnv(a.getenv, ev.CWD))
		ev.Settings = &s
	}
	p.complete(&ev)
	return ev, nil
}

// agentTranscript returns where the host writes what a sub-agent says. Of the events from inside one only its end names the file.
func agentTranscript(session, agent string) string {
	dir, ok := strings.CutSuffix(session, ".jsonl")
	if !ok || strings.ContainsAny(agent, `/\`) {
		return ""
	}
	return dir + "/subagents/agent-" + agent + ".jsonl"
}

// complete fills in what only some events carry.
func (p *payload) complete(ev *session.Event) {
	switch ev.Name {
	case "SessionStart":
		ev.Model = transcript.String(p.model)
		if transcript.String(p.source) == "compact" {
			ev.Kind = session.CompactionDone
		}
		// When a session is resumed or forked the host says what its next request will hold, the last answer included. There
		// is no tuple and no time: it only helps where the transcript is not there to say it better.
		if n := transcript.Int(p.contextTokens); n > 0 {
			ev.Reports = []session.Report{{Tokens: n, Provenance: session.ProvenanceHost, Model: ev.Model}}
		}
	case "UserPromptSubmit":
		ev.Prompt = transcript.String(p.prompt)
		ev.Machine = isMachine(ev.Prompt)
		// The plugin and installed hooks may both be there. What is typed while a turn is going on is told apart by its length: a
		// sum of the text would tell something about it.
		if id := transcript.String(p.promptID); id != "" {
			ev.PromptID = id + "/" + strconv.Itoa(len(ev.Prompt))
		}
	case "PreToolUse": // a call that has not run only names its files
		ev.Paths = byCall(transcript.String(p.toolUseID), toolpath.Mentioned(toolPaths(transcript.String(p.toolName), p.toolInput, ev.CWD)))
	case "PostToolUse":
		ev.Paths = toolPaths(transcript.String(p.toolName), p.toolInput, ev.CWD)
		ev.Results = callResult(p.toolUseID, false)
	case "PostToolUseFailure":
		ev.Results = callResult(p.toolUseID, true)
	case "PostToolBatch":
		ev.Paths, ev.Results = batch(p.toolCalls, ev.CWD)
	case "PreCompact":
		// After a compaction that a person asked for, the host shows what its hooks printed, and the model reads along.
		ev.Echoed = transcript.String(p.trigger) == "manual"
	case "PostCompact":
		if summary := withoutAnalysis(transcript.String(p.summary)); summary != "" {
			ev.CompactedBy = &session.Boundary{Summary: summary}
		}
	case "StopFailure":
		ev.Limit = limitError(transcript.String(p.errorDetails), transcript.String(p.lastMessage))
	case "SubagentStop":
		// The model that writes the summary of a compaction runs as an agent without a type.
		if ev.AgentType == "" {
			ev.Kind = session.Seen
		}
	case statusLine:
		p.status(ev)
	}
}

// status reads the status line: the only payload that states the window and, with it, usage.
func (p *payload) status(ev *session.Event) {
	var model, window, usage, dir []byte
	transcript.Pick(p.model, transcript.Field{Name: "id", Value: &model})
	transcript.Pick(p.contextWindow,
		transcript.Field{Name: "context_window_size", Value: &window},
		transcript.Field{Name: "current_usage", Value: &usage})
	ev.Model = transcript.String(model)
	ev.Title = transcript.String(p.sessionName)
	if n := transcript.Int(window); n > 0 {
		ev.Limits.WindowTokens = n
	}
	if ev.CWD == "" && transcript.Pick(p.workspace, transcript.Field{Name: "current_dir", Value: &dir}) {
		ev.CWD = transcript.String(dir)
	}
	// Before the first response usage is null: nothing is said. After a compaction it is all zeros: what was known is over.
	var input []byte
	if transcript.Pick(usage, transcript.Field{Name: "input_tokens", Value: &input}); input != nil {
		if tuple, ok := usageTuple(usage); ok {
			ev.Reports = []session.Report{{
				Tuple: tuple, Tokens: occupancy(tuple), Provenance: session.ProvenanceHost, Model: ev.Model,
			}}
		}
	}
}

// usageTuple reads a usage object as the Anthropic API writes it. Cache writes are the larger of their sum and the nested
// figures by lifetime: some versions fill in only the latter. Where a figure is no count ok is false: without it the sum would be
// wrong. All figures beside the lists are 0 in the answers that a compaction kept, which the host writes again after the boundary; what
// their lists hold is from before it.
func usageTuple(usage []byte) (u session.UsageTuple, ok bool) {
	var input, read, write, nested, output, iterations []byte
	transcript.Pick(usage,
		transcript.Field{Name: "input_tokens", Value: &input},
		transcript.Field{Name: "cache_read_input_tokens", Value: &read},
		transcript.Field{Name: "cache_creation_input_tokens", Value: &write},
		transcript.Field{Name: "cache_creation", Value: &nested},
		transcript.Field{Name: "output_tokens", Value: &output},
		transcript.Field{Name: "iterations", Value: &iterations})
	ok = true
	for _, f := range []struct {
		to   *int
		from []byte
	}{{&u.Input, input}, {&u.CacheRead, read}, {&u.CacheWrite, write}} {
		count, is := transcript.Count(f.from)
		*f.to, ok = count, ok && is
	}
	if string(input) == "0" && string(read) == "0" && string(write) == "0" && string(output) == "0" {
		return u, true
	}
	if last := lastIteration(iterations); last != nil {
		return usageTuple(last)
	}
	byLifetime := 0
	transcript.Members(nested, func(_, value []byte) bool {
		byLifetime += transcript.Int(value)
		return true
	})
	u.CacheWrite, u.Output = max(u.CacheWrite, byLifetime), transcript.Int(output)
	return u, ok
}

// lastIteration returns the usage of the last request that a response was made of, nil where none is listed. With server-side
// tools a response takes several requests, and the figures beside the list are their sum: the window held what the last one
// was given. Requests to an advisor and those that compact are no part of the conversation; the host leaves them out as well.
func lastIteration(iterations []byte) (last []byte) {
	transcript.Elements(iterations, func(one []byte) bool {
		var kind, nested []byte
		transcript.Pick(one, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "iterations", Value: &nested})
		switch transcript.String(kind) {
		case "message", "fallback_message":
			if u, ok := usageTuple(one); ok && !u.IsZero() && nested == nil {
				last = one
			}
		}
		return true
	})
	return last
}

// occupancy is Anthropic's arithmetic: input excludes what was read from or written to the cache, and the answer is not
// in the window until the next request.
func occupancy(u session.UsageTuple) int { return u.Input + u.CacheRead + u.CacheWrite }

// machineTags begin the turns that no person typed: news of background tasks, the echo of local commands, reminders.
var machineTags = []string{
	"<task-notification", "<agent-notification", "<teammate-message", "<local-command-", "<command-name>",
	"<command-message>", "<bash-input>", "<bash-stdout>", "<bash-stderr>",
}

// isMachine reports whether a prompt comes from the host rather than from a person.
func isMachine(prompt string) bool {
	rest := strings.TrimSpace(prompt)
	for strings.HasPrefix(rest, "<system-reminder>") {
		_, after, found := strings.Cut(rest, "</system-reminder>")
		if rest = strings.TrimSpace(after); !found || rest == "" {
			return true
		}
	}
	for _, tag := range machineTags {
		if strings.HasPrefix(rest, tag) {
			return true
		}
	}
	return false
}

// withoutAnalysis returns a summary without the thinking that precedes it, which the host drops: what only stands there
// does not reach the model.
func withoutAnalysis(summary string) string {
	before, rest, found := strings.Cut(summary, "<analysis>")
	if !found {
		return summary
	}
	if _, after, closed := strings.Cut(rest, "</analysis>"); closed {
		return strings.TrimSpace(before + after)
	}
	return summary
}

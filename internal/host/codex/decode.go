package codex

import (
	"strconv"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/toolpath"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// kinds says what the host's events are. One that is not listed is Seen.
var kinds = map[string]session.Kind{
	"SessionStart":     session.SessionStarted,
	"SessionEnd":       session.SessionEnded,
	"UserPromptSubmit": session.PromptSubmitted,
	"PreToolUse":       session.ToolStarting,
	"PostToolUse":      session.ToolFinished,
	"PreCompact":       session.CompactionOpened,
	"PostCompact":      session.CompactionDone,
	"Stop":             session.TurnFinished,
	"Interrupt":        session.TurnFailed,
	"SubagentStart":    session.AgentStarted,
	"SubagentStop":     session.AgentFinished,
}

// Decode turns what a hook is given on stdin into an event. name is that of the event where the payload carries none, as it
// always does. A payload over 64 MiB, one that is no JSON object, and one without session_id or event are errors with
// coded.Invalid. Members of an unexpected type count as missing: hosts change.
func (a *Adapter) Decode(name string, data []byte) (session.Event, error) {
	var rollout, model, agentID, agentType, agentRollout, source, turnID, prompt, tool, input []byte
	ev, err := transcript.Hook(Name, kinds, name, data,
		transcript.Field{Name: "transcript_path", Value: &rollout},
		transcript.Field{Name: "model", Value: &model},
		transcript.Field{Name: "agent_id", Value: &agentID},
		transcript.Field{Name: "agent_type", Value: &agentType},
		transcript.Field{Name: "agent_transcript_path", Value: &agentRollout},
		transcript.Field{Name: "source", Value: &source},
		transcript.Field{Name: "turn_id", Value: &turnID},
		transcript.Field{Name: "prompt", Value: &prompt},
		transcript.Field{Name: "tool_name", Value: &tool},
		transcript.Field{Name: "tool_input", Value: &input},
	)
	if err != nil {
		return session.Event{}, err
	}
	ev.Model, ev.AgentID, ev.AgentType = transcript.String(model), transcript.String(agentID), transcript.String(agentType)
	ev.Transcript, ev.AgentTranscript = transcript.String(rollout), transcript.String(agentRollout)
	// Inside a sub-agent the rollout is the sub-agent's own, and the session that of the main chain; at its end both are named.
	if ev.AgentID != "" && ev.Name != "SubagentStop" {
		ev.AgentTranscript, ev.Transcript = ev.Transcript, ""
	}
	ev.Accepts = accepts(ev.Name)
	if a.getenv != nil && ev.Name == "SessionStart" { // a running Codex does not read them again
		s := settingsFor(host.HookEnv(a.getenv, ev.CWD))
		ev.Settings = &s
	}
	switch ev.Name {
	case "SessionStart":
		if transcript.String(source) == "compact" {
			ev.Kind = session.CompactionDone
		}
	case "UserPromptSubmit":
		ev.Prompt = transcript.String(prompt)
		ev.Machine = isMachine(ev.Prompt)
		// Hooks of the user and of the project both run. What is typed while a turn is going on belongs to the same turn, and is told
		// from what was typed before by its length: a sum of the text would tell something about it.
		if id := transcript.String(turnID); id != "" {
			ev.PromptID = id + "/" + strconv.Itoa(len(ev.Prompt))
		}
	case "PreToolUse":
		ev.Paths = toolpath.Mentioned(toolPaths(transcript.String(tool), input, ev.CWD))
	case "PostToolUse":
		ev.Paths = toolPaths(transcript.String(tool), input, ev.CWD)
	}
	return ev, nil
}

// machineTags begin what the host itself says in the name of the user.
var machineTags = []string{
	"<subagent_notification>", "<environment_context>", "<hook_prompt", "<turn_aborted>", "<user_shell_command>", "<user_instructions>", "# AGENTS.md instructions",
}

// isMachine reports whether a prompt comes from the host rather than from a person.
func isMachine(prompt string) bool {
	prompt = strings.TrimSpace(prompt)
	for _, tag := range machineTags {
		if strings.HasPrefix(prompt, tag) {
			return true
		}
	}
	return false
}

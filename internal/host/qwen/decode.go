package qwen

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// kinds says what the host's events are. One that is not listed is Seen: PostCompact too, which takes no text. The record and
// SessionStart tell of the same compaction right after it.
var kinds = map[string]session.Kind{
	"SessionStart":     session.SessionStarted,
	"SessionEnd":       session.SessionEnded,
	"UserPromptSubmit": session.PromptSubmitted,
	"PostToolBatch":    session.BatchFinished,
	"PreCompact":       session.CompactionOpened,
	"Stop":             session.TurnFinished,
	"StopFailure":      session.TurnFailed,
	"SubagentStart":    session.AgentStarted,
	"SubagentStop":     session.AgentFinished,
}

// Decode turns what a hook is given on stdin into an event; hooks name their event themselves, name counts where one does not. See
// transcript.Hook for what is an error.
func (Adapter) Decode(name string, data []byte) (session.Event, error) {
	var record, at, agentID, agentType, agentRecord, source, modelID, prompt, typed, promptID, calls, window, tokens []byte
	ev, err := transcript.Hook(Name, kinds, name, data,
		transcript.Field{Name: "transcript_path", Value: &record},
		transcript.Field{Name: "timestamp", Value: &at},
		transcript.Field{Name: "agent_id", Value: &agentID},
		transcript.Field{Name: "agent_type", Value: &agentType},
		transcript.Field{Name: "agent_transcript_path", Value: &agentRecord},
		transcript.Field{Name: "source", Value: &source},
		transcript.Field{Name: "model", Value: &modelID},
		transcript.Field{Name: "prompt", Value: &prompt},
		transcript.Field{Name: "prompt_id", Value: &promptID},
		transcript.Field{Name: "tool_calls", Value: &calls},
		transcript.Field{Name: "submitted_prompt", Value: &typed},
		transcript.Field{Name: "context_limit", Value: &window},
		transcript.Field{Name: "input_tokens", Value: &tokens})
	if err != nil {
		return session.Event{}, err
	}
	ev.At, ev.Model = transcript.Time(at), transcript.String(modelID)
	ev.Transcript = transcript.String(record)
	if ev.AgentID = transcript.String(agentID); ev.AgentID != "" {
		ev.AgentType, ev.AgentTranscript = transcript.String(agentType), transcript.String(agentRecord)
		if ev.AgentTranscript == "" {
			ev.AgentTranscript = agentTranscript(ev.Transcript, ev.SessionID, ev.AgentID)
		}
	}
	ev.Accepts = accepts(ev.Name)
	switch ev.Name {
	case "SessionStart":
		if transcript.String(source) == "compact" {
			ev.Kind = session.CompactionDone
		}
	case "UserPromptSubmit":
		ev.Prompt = cmp.Or(transcript.String(typed), transcript.String(prompt)) // the latter with what the host adds
		if ev.Prompt == "" {                                                    // the host sends results of tools this way, too
			ev.Kind, ev.Accepts = session.Seen, nil
		}
		if id := transcript.String(promptID); id != "" { // a resumed session may count from the same number again
			ev.PromptID = id + "/" + strconv.Itoa(len(ev.Prompt))
		}
	case "PostToolBatch":
		ev.Paths, ev.Results = batch(calls, ev.CWD)
	case "Stop":
		ev.Limits.WindowTokens = transcript.Int(window)
		// The last answer may not be on record yet. Its line repeats this report, and so has the same tuple.
		if n := transcript.Int(tokens); n > 0 {
			ev.Reports = []session.Report{{At: ev.At, Tokens: n, Tuple: session.UsageTuple{Input: n}, Provenance: session.ProvenanceReported}}
		}
	}
	return ev, nil
}

// batch returns the files of the calls of a batch, and which calls failed.
func batch(calls []byte, cwd string) (paths []session.PathUse, results []session.CallResult) {
	transcript.Elements(calls, func(call []byte) bool {
		var tool, input, id, status []byte
		transcript.Pick(call,
			transcript.Field{Name: "tool_name", Value: &tool},
			transcript.Field{Name: "tool_input", Value: &input},
			transcript.Field{Name: "tool_call_id", Value: &id},
			transcript.Field{Name: "status", Value: &status})
		paths = append(paths, callPaths(transcript.String(id), transcript.String(tool), input, cwd)...)
		results = append(results, result(id, status)...)
		return true
	})
	return paths, results
}

// result says how a call ended, where it has an id.
func result(id, status []byte) []session.CallResult {
	if callID := transcript.String(id); callID != "" {
		return []session.CallResult{{CallID: callID, Failed: transcript.String(status) != "success"}}
	}
	return nil
}

// agentTranscript returns where the host writes what a sub-agent says. Of the events from inside one only its end names the file.
func agentTranscript(record, sessionID, agentID string) string {
	if record == "" || strings.ContainsAny(sessionID+agentID, `/\`) {
		return ""
	}
	return filepath.Join(filepath.Dir(filepath.Dir(record)), "subagents", sessionID, "agent-"+agentID+".jsonl")
}

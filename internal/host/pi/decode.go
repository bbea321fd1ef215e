package pi

import (
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/toolpath"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// kinds says what the events of the extension are. One that is not listed is Seen. Of compactions they count only where there is no
// record; see Decode.
var kinds = map[string]session.Kind{
	"session_start":          session.SessionStarted,
	"session_shutdown":       session.SessionEnded,
	"before_agent_start":     session.PromptSubmitted,
	"tool_result":            session.ToolFinished,
	"session_before_compact": session.CompactionOpened,
	"session_compact":        session.CompactionDone,
	"agent_end":              session.TurnFinished,
}

// tools are the tools of the host by what their results look like.
var tools = map[string]session.ToolClass{
	"read": session.ReadTool, "bash": session.ShellTool, "grep": session.SearchTool, "find": session.SearchTool, "ls": session.SearchTool,
	"edit": session.EditTool, "write": session.EditTool,
}

// Decode turns what the extension says into an event. See transcript.Hook for what is an error.
func (Adapter) Decode(name string, data []byte) (session.Event, error) {
	var record, title, at, pid, modelID, provider, output, window, held, prompt, tool, callID, input, failed []byte
	ev, err := transcript.Hook(Name, kinds, name, data,
		transcript.Field{Name: "transcript_path", Value: &record},
		transcript.Field{Name: "session_name", Value: &title},
		transcript.Field{Name: "timestamp", Value: &at},
		transcript.Field{Name: "pid", Value: &pid},
		transcript.Field{Name: "model", Value: &modelID},
		transcript.Field{Name: "provider", Value: &provider},
		transcript.Field{Name: "max_output", Value: &output},
		transcript.Field{Name: "context_window", Value: &window},
		transcript.Field{Name: "context_tokens", Value: &held},
		transcript.Field{Name: "prompt", Value: &prompt},
		transcript.Field{Name: "tool_name", Value: &tool},
		transcript.Field{Name: "tool_call_id", Value: &callID},
		transcript.Field{Name: "tool_input", Value: &input},
		transcript.Field{Name: "failed", Value: &failed})
	if err != nil {
		return session.Event{}, err
	}
	ev.At, ev.HostPID, ev.Title = transcript.Time(at), transcript.Int(pid), transcript.String(title)
	ev.Transcript, ev.Model, ev.Provider = transcript.String(record), transcript.String(modelID), transcript.String(provider)
	ev.Limits.WindowTokens, ev.Limits.OutputTokens = transcript.Int(window), transcript.Int(output)
	ev.Accepts = accepts(ev.Name)
	switch ev.Name {
	case "session_before_compact", "session_compact":
		// The hook of either may run when the record has the compaction already, which would then count twice. The entry that pi passes
		// to session_compact may be that of an earlier compaction with the same summary, so its id is of no use.
		if ev.Transcript != "" {
			ev.Kind = session.Seen
		}
	case "before_agent_start":
		ev.Prompt = transcript.String(prompt)
	case "tool_result":
		ev.Paths = callPaths(transcript.String(callID), transcript.String(tool), input, ev.CWD)
		if id := transcript.String(callID); id != "" {
			ev.Results = []session.CallResult{{CallID: id, Failed: transcript.IsTrue(failed)}}
		}
	case "agent_end": // a session without a record, as of 'pi --no-session', has no other figure
		if n := transcript.Int(held); n > 0 && ev.Transcript == "" {
			ev.Reports = []session.Report{{At: ev.At, Tokens: n, Tuple: session.UsageTuple{Input: n}, Provenance: session.ProvenanceReported, Model: ev.Model}}
		}
	}
	return ev, nil
}

// callPaths returns the files of a call that is named, of which it is not known yet whether it succeeds.
func callPaths(id, tool string, input []byte, cwd string) []session.PathUse {
	var path, command []byte
	transcript.Pick(input, transcript.Field{Name: "path", Value: &path}, transcript.Field{Name: "command", Value: &command})
	in := toolpath.Uses{CWD: cwd}
	switch tool {
	case "read":
		in.Add(transcript.String(path), session.Read)
	case "edit", "write":
		in.Add(transcript.String(path), session.Edited)
	case "grep", "find", "ls":
		in.Add(transcript.String(path), session.Mentioned)
	case "bash":
		in.Command(transcript.String(command))
	default:
		in.Foreign(transcript.String(path))
	}
	for i := range in.List {
		in.List[i].CallID = id
	}
	return in.List
}

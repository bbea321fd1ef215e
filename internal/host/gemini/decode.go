package gemini

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/toolpath"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// kinds says what the host's events are. One that is not listed is Seen: PreCompress too, which comes before every request
// whether or not anything is compacted.
var kinds = map[string]session.Kind{
	"SessionStart": session.SessionStarted,
	"SessionEnd":   session.SessionEnded,
	"BeforeAgent":  session.PromptSubmitted,
	"AfterModel":   session.UsageReported,
	"BeforeTool":   session.ToolStarting,
	"AfterTool":    session.ToolFinished,
	"AfterAgent":   session.TurnFinished,
}

// payload is the raw members of a payload that mean something here.
type payload struct {
	transcript, timestamp             []byte
	prompt                            []byte // BeforeAgent
	request, response                 []byte // AfterModel
	toolName, toolInput, toolResponse []byte // tool events
}

// Decode turns what a hook is given on stdin into an event; hooks name their event themselves, name counts where one does
// not. A payload over 64 MiB, one that is no JSON object, and one without session_id or event are errors with
// coded.Invalid. Members of an unexpected type count as missing: hosts change.
func (a Adapter) Decode(name string, data []byte) (session.Event, error) {
	var p payload
	ev, err := transcript.Hook(Name, kinds, name, data,
		transcript.Field{Name: "transcript_path", Value: &p.transcript},
		transcript.Field{Name: "timestamp", Value: &p.timestamp},
		transcript.Field{Name: "prompt", Value: &p.prompt},
		transcript.Field{Name: "llm_request", Value: &p.request},
		transcript.Field{Name: "llm_response", Value: &p.response},
		transcript.Field{Name: "tool_name", Value: &p.toolName},
		transcript.Field{Name: "tool_input", Value: &p.toolInput},
		transcript.Field{Name: "tool_response", Value: &p.toolResponse},
	)
	if err != nil {
		return session.Event{}, err
	}
	if a.getenv != nil && ev.Kind == session.SessionStarted { // a running Gemini CLI does not read them again
		s := settingsFor(host.HookEnv(a.getenv, ev.CWD))
		ev.Settings = &s
	}
	ev.At = transcript.Time(p.timestamp)
	p.complete(&ev)
	return ev, nil
}

// complete fills in what only some events carry. The transcript is read where the main chain speaks for itself: at its
// turns' ends.
func (p *payload) complete(ev *session.Event) {
	switch ev.Name {
	case "SessionStart", "AfterAgent":
		ev.Transcript = transcript.String(p.transcript)
	case "BeforeAgent":
		ev.Transcript = transcript.String(p.transcript)
		text := withoutContext(transcript.String(p.prompt))
		ev.Prompt, _, _ = strings.Cut(text, referenced)
		ev.Content = []session.Piece{{Class: session.PromptText, Text: text}}
	case "AfterModel":
		p.model(ev)
	case "BeforeTool":
		ev.Paths = toolpath.Mentioned(toolPaths(transcript.String(p.toolName), p.toolInput, ev.CWD))
	case "AfterTool":
		p.tool(ev)
	}
	ev.Accepts = accepts(ev.Name)
	if failed := transcript.IsObject(p.toolError()); failed {
		ev.Accepts = nil // what is said is not passed on with an error
	}
}

// model reads AfterModel, which comes for every part of an answer that is streamed. The last part, which says why the answer
// ended, carries the figures that hold.
func (p *payload) model(ev *session.Event) {
	var model, messages, usage, candidates []byte
	transcript.Pick(p.request, transcript.Field{Name: "model", Value: &model}, transcript.Field{Name: "messages", Value: &messages})
	transcript.Pick(p.response, transcript.Field{Name: "usageMetadata", Value: &usage}, transcript.Field{Name: "candidates", Value: &candidates})
	ev.AgentID = subAgent(messages)
	if ev.AgentID == "" {
		ev.Model = transcript.String(model)
	}
	var given, answered []byte
	transcript.Pick(usage,
		transcript.Field{Name: "promptTokenCount", Value: &given},
		transcript.Field{Name: "candidatesTokenCount", Value: &answered})
	if n := transcript.Int(given); n > 0 && ended(candidates) {
		ev.Reports = []session.Report{{
			At: ev.At, Tuple: session.UsageTuple{Input: n, Output: transcript.Int(answered)}, Tokens: n,
			Provenance: session.ProvenanceReported, Model: transcript.String(model),
		}}
	}
}

// ended reports whether a part of an answer is its last: a candidate says why it ended, or there is none, as where figures
// come by themselves.
func ended(candidates []byte) bool {
	parts, last := 0, false
	transcript.Elements(candidates, func(candidate []byte) bool {
		var reason []byte
		transcript.Pick(candidate, transcript.Field{Name: "finishReason", Value: &reason})
		parts++
		last = last || transcript.String(reason) != ""
		return true
	})
	return last || parts == 0
}

// sessionContext begins the first message of the main chain, always: the host puts it there again after a compaction and when
// a session is resumed. That of a sub-agent is its task.
const sessionContext = "<session_context>"

// subAgent returns what the sub-agent goes by whose conversation it is: the hash of its first message, since the host does not
// name it. It is "" for the main chain, and where there is no message at all.
func subAgent(messages []byte) (id string) {
	transcript.Elements(messages, func(message []byte) bool {
		var content []byte
		transcript.Pick(message, transcript.Field{Name: "content", Value: &content})
		if !bytes.HasPrefix(bytes.TrimLeft(content, "\" \\n\t"), []byte(sessionContext)) {
			hash := fnv.New64a()
			_, _ = hash.Write(content)
			id = fmt.Sprintf("agent-%016x", hash.Sum64())
		}
		return false
	})
	return id
}

// tool reads AfterTool. That of the tool which runs sub-agents says that one ended: what ran in between was its own.
func (p *payload) tool(ev *session.Event) {
	name := transcript.String(p.toolName)
	ev.Paths = toolPaths(name, p.toolInput, ev.CWD)
	if name == agentTool {
		ev.Kind = session.AgentFinished
	}
	var output, message []byte
	transcript.Pick(p.toolResponse, transcript.Field{Name: "llmContent", Value: &output})
	if problem := p.toolError(); transcript.IsObject(problem) {
		ev.Paths = nil // a file that could not be read or changed is none that the session works on
		if transcript.Pick(problem, transcript.Field{Name: "message", Value: &message}); message != nil {
			output = message
		}
	}
	ev.Content = results(output, name)
}

func (p *payload) toolError() (problem []byte) {
	transcript.Pick(p.toolResponse, transcript.Field{Name: "error", Value: &problem})
	return problem
}

// results returns what a tool gave back as pieces: a text, a part of a message, or several of them.
func results(value []byte, tool string) []session.Piece {
	if s := transcript.String(value); s != "" {
		return []session.Piece{{Class: session.ToolResult, Tool: tool, Text: s}}
	}
	var pieces []session.Piece
	if transcript.Elements(value, func(part []byte) bool {
		pieces = append(pieces, results(part, tool)...)
		return true
	}) {
		return pieces
	}
	var text, inline, file []byte
	transcript.Pick(value,
		transcript.Field{Name: "text", Value: &text},
		transcript.Field{Name: "inlineData", Value: &inline},
		transcript.Field{Name: "fileData", Value: &file})
	if inline != nil || file != nil {
		return []session.Piece{{Class: session.Image}}
	}
	if s := transcript.String(text); s != "" {
		return []session.Piece{{Class: session.ToolResult, Tool: tool, Text: s}}
	}
	return nil
}

// referenced precedes the contents of files that a prompt names, which the host puts behind it.
const referenced = "--- Content from referenced files ---"

// withoutContext returns a prompt without what hooks of the session's start said, which the host puts before it.
func withoutContext(prompt string) string {
	for strings.HasPrefix(prompt, "<hook_context>") {
		_, after, found := strings.Cut(prompt, "</hook_context>")
		if !found {
			return prompt
		}
		prompt = strings.TrimLeft(after, "\r\n")
	}
	return prompt
}

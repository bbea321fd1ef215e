package opencode

import (
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// The hooks of the host that ctxls knows; event is the one that gets every event of its bus.
const (
	chatMessage  = "chat.message"
	chatParams   = "chat.params"
	toolBefore   = "tool.execute.before"
	toolAfter    = "tool.execute.after"
	messages     = "experimental.chat.messages.transform"
	compacting   = "experimental.session.compacting"
	event        = "event"
	eventCreated = "session.created"
	eventUpdated = "session.updated"
	eventDeleted = "session.deleted"
)

// payload is the raw members of a payload that mean something here. The first three are the host's; the others are added by
// our plugin, and may be missing.
type payload struct {
	input, output, event []byte

	parts     []byte // with message.updated: the parts that the answer is made of
	directory []byte // in which the host's instance works
	pid       []byte // the host's process
	time      []byte // when the host called, in milliseconds since 1970
	late      []byte // true: the host no longer waits, nothing can be said
	settings  []byte // with chat.params: the member "compaction" of the host's settings
}

// Decode turns what the host calls a plugin with into an event. name is that of the hook; for an event its type or "event". A
// payload over 64 MiB, one that is no JSON object and one without a session are errors with coded.Invalid. Members of an
// unexpected type count as missing: hosts change.
func (a *Adapter) Decode(name string, data []byte) (session.Event, error) {
	var p payload
	err := transcript.Payload(data,
		transcript.Field{Name: "input", Value: &p.input},
		transcript.Field{Name: "output", Value: &p.output},
		transcript.Field{Name: "event", Value: &p.event},
		transcript.Field{Name: "parts", Value: &p.parts},
		transcript.Field{Name: "directory", Value: &p.directory},
		transcript.Field{Name: "pid", Value: &p.pid},
		transcript.Field{Name: "time", Value: &p.time},
		transcript.Field{Name: "late", Value: &p.late},
		transcript.Field{Name: "compaction", Value: &p.settings},
	)
	if err != nil {
		return session.Event{}, err
	}
	ev := session.Event{
		Host:    Name,
		Kind:    session.Seen,
		Name:    name,
		At:      transcript.Millis(p.time),
		CWD:     transcript.String(p.directory),
		HostPID: transcript.Int(p.pid),
	}
	if p.event == nil && name == event {
		p.event = p.input
	}
	if p.event != nil {
		a.event(&p, &ev)
	} else {
		p.hook(&ev)
	}
	switch {
	case ev.Name == "":
		return session.Event{}, coded.Field("event", "want the name of the hook, such as %q", toolAfter)
	case ev.SessionID == "":
		return session.Event{}, coded.Field(text.Sanitize(ev.Name, 60), "want a session, in input.sessionID or event.properties.sessionID")
	}
	a.children.place(&ev)
	if ev.AgentID != "" && ev.Kind == session.TurnFinished {
		ev.Kind = session.AgentFinished
	}
	if !transcript.IsTrue(p.late) {
		ev.Accepts = accepts(ev.Name)
	}
	return ev, nil
}

// hook decodes the arguments of a hook.
func (p *payload) hook(ev *session.Event) {
	var sess, tool, callID, args []byte
	transcript.Pick(p.input,
		transcript.Field{Name: "sessionID", Value: &sess},
		transcript.Field{Name: "tool", Value: &tool},
		transcript.Field{Name: "callID", Value: &callID},
		transcript.Field{Name: "args", Value: &args})
	ev.SessionID = transcript.String(sess)
	switch ev.Name {
	case chatMessage:
		p.prompt(ev)
	case chatParams:
		p.params(ev)
	case toolBefore:
		ev.Kind = session.ToolStarting
		transcript.Pick(p.output, transcript.Field{Name: "args", Value: &args})
		ev.Paths = toolPaths(transcript.String(tool), args, ev.CWD)
		for i := range ev.Paths {
			ev.Paths[i].CallID = transcript.String(callID) // it may yet fail
		}
	case toolAfter:
		ev.Kind = session.ToolFinished
		ev.Paths = toolPaths(transcript.String(tool), args, ev.CWD)
		ev.Results = result(callID, false)
	case messages:
		p.history(ev)
	case compacting:
		ev.Kind = session.CompactionOpened
	}
}

// result says how a call ended.
func result(callID []byte, failed bool) []session.CallResult {
	if id := transcript.String(callID); id != "" {
		return []session.CallResult{{CallID: id, Failed: failed}}
	}
	return nil
}

// prompt decodes a message of the user's. A turn without a word of theirs is the host's own.
func (p *payload) prompt(ev *session.Event) {
	ev.Kind = session.PromptSubmitted
	var message, parts, model []byte
	transcript.Pick(p.output, transcript.Field{Name: "message", Value: &message}, transcript.Field{Name: "parts", Value: &parts})
	transcript.Pick(message, transcript.Field{Name: "model", Value: &model})
	ev.Model = modelID(model)
	ev.Prompt, ev.Content, ev.Machine = spoken(parts)
}

// spoken returns what the user typed in a message, what the message adds to the conversation, and whether the host made it.
func spoken(parts []byte) (prompt string, content []session.Piece, machine bool) {
	content = said(parts)
	var typed []string
	for _, piece := range content {
		if piece.Class == session.PromptText {
			typed = append(typed, piece.Text)
		}
	}
	return strings.Join(typed, "\n"), content, len(content) > 0 && len(typed) == 0
}

// params decodes the parameters of a request, which name the model with its limits. The host makes requests of its own beside
// the conversation, for a title or a summary; where they go to another model than the user's message, they say nothing of it.
func (p *payload) params(ev *session.Event) {
	var named, provider, message, asked []byte
	transcript.Pick(p.input,
		transcript.Field{Name: "model", Value: &named},
		transcript.Field{Name: "provider", Value: &provider},
		transcript.Field{Name: "message", Value: &message})
	transcript.Pick(message, transcript.Field{Name: "model", Value: &asked})
	if name := modelID(asked); name != "" && name != modelID(named) {
		return
	}
	var limit, window, input, output, most, auto, reserved []byte
	transcript.Pick(named, transcript.Field{Name: "limit", Value: &limit})
	transcript.Pick(limit,
		transcript.Field{Name: "context", Value: &window},
		transcript.Field{Name: "input", Value: &input},
		transcript.Field{Name: "output", Value: &output})
	transcript.Pick(p.output, transcript.Field{Name: "maxOutputTokens", Value: &most})
	transcript.Pick(p.settings, transcript.Field{Name: "auto", Value: &auto}, transcript.Field{Name: "reserved", Value: &reserved})
	ev.Model, ev.Provider = modelID(named), providerOf(named, provider)
	ev.Limits = model.Limits{
		WindowTokens: transcript.Int(window),
		InputTokens:  transcript.Int(input),
		OutputTokens: transcript.Int(output),
	}
	if p.settings != nil {
		ev.Settings = &model.Settings{Off: string(auto) == "false", Reserve: transcript.Int(reserved)}
	}
	if ev.Limits.OutputTokens == 0 {
		ev.Limits.OutputTokens = transcript.Int(most)
	}
}

// modelID returns the name of a model, which the host writes as "id" or "modelID".
func modelID(model []byte) string {
	var id, long []byte
	transcript.Pick(model, transcript.Field{Name: "id", Value: &id}, transcript.Field{Name: "modelID", Value: &long})
	if id == nil {
		id = long
	}
	return transcript.String(id)
}

// anthropicPackage is the package by which the host speaks Anthropic's API.
const anthropicPackage = "@ai-sdk/anthropic"

// others are providers by the names that the host has for them (https://models.dev) which are spoken to by many APIs, or by
// Anthropic's, and serve models of their own.
var others = []string{
	"openai", "azure", "google", "google-vertex", "amazon-bedrock", "github-copilot", "github-models", "openrouter", "opencode", "vercel", "xai",
	"mistral", "groq", "deepseek", "minimax", "moonshotai", "kimi-for-coding", "zai", "zhipuai", "alibaba", "ollama", "lmstudio",
}

// providerOf returns the provider of a model. A provider from the user's settings, such as a company's gateway, is Anthropic if
// OpenCode uses Anthropic's API for it.
func providerOf(model, provider []byte) string {
	var id, api, npm, source []byte
	transcript.Pick(model, transcript.Field{Name: "providerID", Value: &id}, transcript.Field{Name: "api", Value: &api})
	transcript.Pick(api, transcript.Field{Name: "npm", Value: &npm})
	transcript.Pick(provider, transcript.Field{Name: "source", Value: &source})
	name := transcript.String(id)
	if transcript.String(npm) == anthropicPackage && transcript.String(source) == "config" && !slices.Contains(others, name) {
		return "anthropic"
	}
	return name
}

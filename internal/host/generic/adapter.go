// Package generic speaks to any agent that tells its events in ctxls' own vocabulary: JSON objects that are documented in
// docs/hosts.md and described by docs/generic-events.schema.json.
package generic

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/reply"
)

// Name is what users and clients call the host.
const Name session.Host = "generic"

// Host is any agent that speaks ctxls' vocabulary, for the registry. It has no settings to install into. A hook prints errors in an
// event for the author of the agent.
var Host = host.Host{
	Name:           Name,
	Adapter:        func(func(string) string) core.Adapter { return New() },
	ReportsInvalid: true,
}

// Adapter implements core.Adapter. It is safe for many goroutines.
type Adapter struct{}

// New returns an adapter.
func New() Adapter { return Adapter{} }

// Host returns Name.
func (Adapter) Host() session.Host { return Name }

// Rules returns the rules for an unknown agent: it may never report usage, and then the marks need no explanation.
func (Adapter) Rules() session.Rules {
	return session.Rules{Silent: true, GuideLate: true, Tools: tools}
}

// tools are names that agents commonly give their tools. One that is not listed costs what tools cost on average.
var tools = map[string]session.ToolClass{
	"Read": session.ReadTool, "read": session.ReadTool, "read_file": session.ReadTool, "read_many_files": session.ReadTool,
	"Bash": session.ShellTool, "bash": session.ShellTool, "shell": session.ShellTool, "exec_command": session.ShellTool, "run_shell_command": session.ShellTool,
	"Grep": session.SearchTool, "Glob": session.SearchTool, "LS": session.SearchTool, "grep": session.SearchTool, "glob": session.SearchTool,
	"list": session.SearchTool, "list_directory": session.SearchTool, "search_file_content": session.SearchTool, "grep_search": session.SearchTool,
	"Edit": session.EditTool, "Write": session.EditTool, "edit": session.EditTool, "write": session.EditTool, "patch": session.EditTool,
	"apply_patch": session.EditTool, "write_file": session.EditTool, "replace": session.EditTool,
	"Task": session.AgentTool, "Agent": session.AgentTool, "task": session.AgentTool,
}

// Read reads nothing: such an agent has no transcript.
func (Adapter) Read(_ context.Context, _ string, from session.Cursor) (session.Reading, error) {
	return session.Reading{From: from.Offset, Cursor: from}, nil
}

// Decode reads one event; see Parse for what is wrong. name is the event's, where the payload does not carry it.
func (Adapter) Decode(name string, payload []byte) (session.Event, error) {
	e, err := Parse(name, payload)
	if err != nil {
		return session.Event{}, err
	}
	ev := session.Event{
		Host: Name, SessionID: e.SessionID, Name: e.Name,
		CWD: e.CWD, Title: e.Title, Model: e.Model, Provider: e.Provider, HostPID: e.HostPID, AgentID: e.AgentID, AgentType: e.AgentType,
		Limits: model.Limits{WindowTokens: e.WindowTokens, InputTokens: e.MaxInputTokens, OutputTokens: e.MaxOutputTokens},
	}
	o := occurrences[slices.IndexFunc(occurrences, func(o occurrence) bool { return o.name == e.Name })]
	ev.Kind, ev.Accepts = o.kind, o.accepts
	if e.Accepts != nil {
		ev.Accepts = e.Accepts
	}
	if e.AgentID != "" {
		switch ev.Kind {
		case session.SessionStarted:
			ev.Kind = session.AgentStarted
		case session.SessionEnded:
			ev.Kind = session.AgentFinished
		}
	}
	e.complete(&ev)
	return ev, nil
}

// complete fills in what only some events carry.
func (e Event) complete(ev *session.Event) {
	for _, p := range e.Paths {
		use := uses[p.Use]
		if e.Failed || ev.Kind == session.ToolStarting { // it did not happen, or not yet
			use = session.Mentioned
		}
		ev.Paths = append(ev.Paths, session.PathUse{Path: p.Path, Use: use})
	}
	add := func(class session.PieceClass, text string) {
		if text != "" {
			ev.Content = append(ev.Content, session.Piece{Class: class, Text: text, Tool: e.Tool, CallID: e.CallID})
		}
	}
	switch ev.Kind {
	case session.PromptSubmitted:
		ev.Prompt, ev.Machine = e.Text, e.Machine
		add(session.PromptText, e.Text)
	case session.ToolFinished:
		add(session.ToolCall, string(e.Input))
		add(session.ToolResult, e.Output)
	case session.TurnFinished:
		add(session.AnswerText, e.Text)
	case session.HistorySeen:
		for _, m := range e.Messages {
			add(classes[m.Role], m.Text)
		}
	case session.UsageReported:
		ev.Reports = []session.Report{{
			Tokens: e.Tokens, Provenance: session.ProvenanceReported, Model: e.Model,
			Tuple: session.UsageTuple{Input: e.Tokens - e.CacheReadTokens - e.CacheWriteTokens, CacheRead: e.CacheReadTokens, CacheWrite: e.CacheWriteTokens, Output: e.OutputTokens},
		}}
	case session.CompactionDone:
		ev.CompactedBy = &session.Boundary{ID: e.CompactionID, PreTokens: e.PreTokens, PostTokens: e.PostTokens, Summary: e.Summary}
	}
}

// Answer is what an agent is handed in return for an event.
type Answer struct {
	Version int              `json:"version"`
	Effects []session.Effect `json:"effects"` // what is to be done, in this order; often nothing
}

// Encode returns an Answer as one line of JSON, with a line end. Control and format characters become spaces, and each effect is cut
// to session.MaxInjectedChars; one that says nothing is left out.
func (Adapter) Encode(_ session.Event, effects []session.Effect) ([]byte, error) {
	answer := Answer{Version: Version, Effects: []session.Effect{}}
	for _, effect := range effects {
		said := effect.Text
		if effect.Kind == session.CompactionContext {
			said = strings.Join(effect.Lines, "\n")
		}
		said = reply.Text([]string{said}, session.MaxInjectedChars, func(rune) int { return 1 })
		switch {
		case said == "":
			continue
		case effect.Kind == session.CompactionContext:
			effect.Lines = strings.Split(said, "\n")
		default:
			effect.Text = said
		}
		answer.Effects = append(answer.Effects, effect)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(answer)
	return buf.Bytes(), err
}

package session

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/core/token"
)

// RequestRecord is what a host's own record says of the last request of a session's main conversation, beside its messages.
type RequestRecord struct {
	At      time.Time
	Version string // of the host
	System  []string
	Tools   []RequestTool
	// Called holds the names of the tools that were called in the session. It is nil if the record was not read whole.
	Called map[string]bool
}

// RequestTool is one tool as it was sent: its JSON is name, description and schema.
type RequestTool struct{ Name, JSON string }

// Group returns what a list of tools belongs to: the MCP server of a tool whose name is mcp__SERVER__TOOL, and "" for a built-in one.
func (t RequestTool) Group() string {
	rest, ok := strings.CutPrefix(t.Name, "mcp__")
	if !ok {
		return ""
	}
	server, _, ok := strings.Cut(rest, "__")
	if !ok {
		return ""
	}
	return server
}

// RequestShare is what the host's own record of the last request tells of the system prompt and the tools.
type RequestShare struct {
	Version string        `json:"version"` // of the host
	At      time.Time     `json:"at"`      // when the request was made
	Parts   []RequestPart `json:"parts"`   // the system prompt, the built-in tools, then each MCP server's tools by name
}

// RequestPart is one part of the recorded request.
type RequestPart struct {
	Kind   RequestKind `json:"kind"`
	Server string      `json:"server,omitempty"` // of an MCP server's tools, sanitized
	Tokens int         `json:"tokens"`           // scaled, so that the parts are no more than the share that they explain
	Bytes  int         `json:"bytes"`            // as sent, in UTF-8
	Tools  int         `json:"tools"`            // the number of tools
	// Unused lists the tools that were never called in the session, the largest first, at most MaxUnusedTools. It is null if that is not
	// known.
	Unused       []UnusedTool `json:"unused"`
	UnusedTools  int          `json:"unusedTools"`  // the number of tools that were never called
	UnusedTokens int          `json:"unusedTokens"` // the tokens of all of them
}

// UnusedTool is a tool that was sent and never called.
type UnusedTool struct {
	Name   string `json:"name"` // sanitized
	Tokens int    `json:"tokens"`
}

// RequestKind is the kind of a part of a request.
type RequestKind string

// The kinds of parts.
const (
	RequestSystem RequestKind = "systemPrompt"
	RequestTools  RequestKind = "builtinTools"
	RequestServer RequestKind = "serverTools"
)

// MaxUnusedTools bounds the tools that one part names.
const MaxUnusedTools = 50

// Explain adds what the host's record of the last request tells to a breakdown. The parts of b stay as they are.
func (b *Breakdown) Explain(r *RequestRecord, e Estimator, counter token.Counter) {
	cost := func(s string) float64 { return e.Cost(Piece{Class: InjectedText, Tokens: counter.Count(s)}, 0) }
	type part struct {
		RequestPart
		weight, unused float64
		tools          []UnusedTool
	}
	system := &part{RequestPart: RequestPart{Kind: RequestSystem}}
	for _, s := range r.System {
		system.weight, system.Bytes = system.weight+cost(s), system.Bytes+len(s)
	}
	groups := map[string]*part{}
	weights := map[*part][]float64{} // of unused tools
	whole := system.weight
	for _, t := range r.Tools {
		name := t.Group()
		g := groups[name]
		if g == nil {
			g = &part{RequestPart: RequestPart{Kind: RequestTools}}
			if name != "" {
				g.Kind, g.Server = RequestServer, text.Sanitize(name, text.MaxLabel)
			}
			groups[name] = g
		}
		weight := cost(t.JSON)
		g.weight, g.Bytes, g.RequestPart.Tools, whole = g.weight+weight, g.Bytes+len(t.JSON), g.RequestPart.Tools+1, whole+weight
		if r.Called != nil && !r.Called[t.Name] {
			g.unused += weight
			g.tools = append(g.tools, UnusedTool{Name: text.Sanitize(t.Name, text.MaxLabel)})
			weights[g] = append(weights[g], weight)
		}
	}
	share := 0
	for _, p := range b.Parts {
		if p.Category == CategorySystem || p.Category == CategoryUnknown {
			share += p.Tokens
		}
	}
	scale := 1.0
	if whole > float64(share) && whole > 0 {
		scale = float64(share) / whole
	}
	ordered := []*part{system}
	for _, g := range groups {
		ordered = append(ordered, g)
	}
	slices.SortFunc(ordered, func(a, b *part) int {
		rank := []RequestKind{RequestSystem, RequestTools, RequestServer}
		return cmp.Or(cmp.Compare(slices.Index(rank, a.Kind), slices.Index(rank, b.Kind)), cmp.Compare(a.Server, b.Server))
	})
	b.Request = &RequestShare{Version: text.Sanitize(r.Version, text.MaxLabel), At: r.At, Parts: []RequestPart{}}
	for _, p := range ordered {
		p.RequestPart.Tokens = int(p.weight * scale) // rounded down: the parts stay within the share
		if r.Called != nil && p.Kind != RequestSystem {
			for i := range p.tools {
				p.tools[i].Tokens = int(weights[p][i] * scale)
			}
			slices.SortFunc(p.tools, func(a, b UnusedTool) int { return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Name, b.Name)) })
			p.UnusedTools, p.UnusedTokens = len(p.tools), int(p.unused*scale)
			p.Unused = append([]UnusedTool{}, p.tools[:min(len(p.tools), MaxUnusedTools)]...)
		}
		b.Request.Parts = append(b.Request.Parts, p.RequestPart)
	}
}

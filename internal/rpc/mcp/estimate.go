package mcp

import (
	"context"
	"fmt"
	"math"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/conversation"
	words "github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/estimate"
)

var estimateTool = tool{
	name:  "estimate",
	title: "What reading files would cost",
	description: "Counts the tokens that reading files or directories would add to the context window, and their share of the room that this session " +
		"has left until the host compacts it. Call it before reading a large file or many files, to choose a search, or a part of a file, " +
		"instead. Give `paths`, or a `text`. Directories are counted without what .gitignore names. Only files in the open workspace are read, at " +
		"most 64 MiB. Hosts add line numbers to what they read, so that it costs somewhat more.",
	input: `{
  "type": "object",
  "properties": {
    "paths": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 100, "description": "Files and directories, absolute or relative to the workspace. Not together with text."},
    "text": {"type": "string", "description": "The text to count. Not together with paths."},
    "model": {"type": "string", "description": "The model that would read it, where it is not that of this session."}
  },
  "additionalProperties": false
}`,
	call: func(ctx context.Context, s *Server, r *sdk.CallToolRequest) (string, any, error) {
		var paths []string
		var text, modelID *string
		if err := decode(r.Params.Arguments, estimateArguments(&paths, &text, &modelID)); err != nil {
			return "", nil, err
		}
		if (len(paths) == 0) == (text == nil) {
			return "", nil, coded.Errorf(coded.Invalid, "expected either paths, an array of strings, or text, a string")
		}
		folders, err := s.folders(ctx, r)
		if err != nil {
			return "", nil, err
		}
		e, err := s.estimate(ctx, folders, paths, text, modelID)
		if err != nil {
			return "", nil, err
		}
		clean(&e)
		return estimateText(e), e, nil
	},
}

func estimateArguments(paths *[]string, text, modelID **string) map[string]argument {
	return map[string]argument{"paths": {paths, "an array of strings"}, "text": {text, "a string"}, "model": {modelID, "a string"}}
}

// Estimate is what reading something would cost the caller.
type Estimate struct {
	estimate.Files
	Encoding      string   `json:"encoding"`      // what was counted with
	Exact         bool     `json:"exact"`         // the model really uses this encoding
	RoomTokens    *int     `json:"roomTokens"`    // what is left in the caller's window until the host compacts or refuses; null is unknown
	PercentOfRoom *float64 `json:"percentOfRoom"` // Tokens as a share of RoomTokens; may be above 100, null where there is no room
}

// estimate counts paths or a text for the caller's model, and looks up how much room the caller has.
func (s *Server) estimate(ctx context.Context, folders, paths []string, text, modelID *string) (e Estimate, err error) {
	in, err := s.options.Service.Inspect(ctx, core.Caller{Folders: folders, HostPID: s.options.HostPID, Limit: 1})
	if err != nil {
		return e, err
	}
	var request conversation.MeasureRequest
	if in.Session != nil {
		request.Model, request.Provider = in.Session.Model, in.Session.Provider
		if e.RoomTokens = in.Session.Usage.ToCompaction; e.RoomTokens == nil {
			e.RoomTokens = in.Session.Usage.ToRefusal
		}
	}
	if modelID != nil {
		request.Model, request.Provider = *modelID, ""
	}
	count := func(text string) (int, error) {
		m, err := s.options.Service.Meter.MeasureText(text, request)
		e.Encoding, e.Exact = m.Encoding, m.Exact && request.Model != ""
		return m.Tokens, err
	}
	if text != nil {
		e.Files = estimate.Files{Largest: []estimate.File{}, Omitted: []estimate.Omission{}, Complete: true}
		e.Tokens, err = count(*text)
	} else {
		if _, err = count(""); err == nil { // names the encoding where no file is counted
			e.Files, err = estimate.Count(ctx, folders, paths, count)
		}
	}
	if err == nil && e.RoomTokens != nil && *e.RoomTokens > 0 {
		percent := math.Round(float64(e.Tokens)/float64(*e.RoomTokens)*1000) / 10
		e.PercentOfRoom = &percent
	}
	return e, err
}

func estimateText(e Estimate) string {
	var b strings.Builder
	quality := "an approximation"
	if e.Exact {
		quality = "exact"
	}
	unit := "tokens"
	if e.Tokens == 1 {
		unit = "token"
	}
	fmt.Fprintf(&b, "%s %s (%s, %s)", words.Thousands(e.Tokens), unit, e.Encoding, quality)
	if e.FilesCounted > 0 || e.OmittedFiles > 0 {
		fmt.Fprintf(&b, " in %d files", e.FilesCounted)
	}
	switch {
	case e.RoomTokens == nil:
		b.WriteString(". How much room this session has left is not known.")
	case e.PercentOfRoom == nil:
		b.WriteString(". This session has no room left.")
	default:
		fmt.Fprintf(&b, ": %.1f%% of the %s tokens that this session has left.", *e.PercentOfRoom, words.Thousands(*e.RoomTokens))
	}
	if len(e.Largest) > 1 {
		b.WriteString("\nThe largest:\n")
		for _, f := range e.Largest {
			fmt.Fprintf(&b, "  %s: %s\n", f.Path, words.Thousands(f.Tokens))
		}
	}
	if e.OmittedFiles > 0 {
		fmt.Fprintf(&b, "\nNot counted (%d):\n", e.OmittedFiles)
		for _, o := range e.Omitted {
			fmt.Fprintf(&b, "  %s: %s\n", o.Path, o.Why)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

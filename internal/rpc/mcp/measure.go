package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/text"
)

var measureTool = tool{
	name:  "measure_context",
	title: "Count the tokens of a text or a conversation",
	description: "Counts the tokens of a text, or of a conversation as a model would be sent it. Use it to know beforehand how much of a context " +
		"window a document, a prompt or a list of messages would take, or whether it is above a threshold. Give either `text` or " +
		"`messages`. The count is exact where `exact` says so; of Claude and Gemini models, whose encodings are not public, it is an " +
		"approximation. It does not say how full a window is now: inspect_state does.",
	input: `{
  "type": "object",
  "properties": {
    "text": {"type": "string", "description": "The text to count. Not together with messages."},
    "messages": {"type": "array", "items": {"type": "object"}, "description": "The conversation to count: messages in the form of OpenAI, Anthropic, Gemini or OpenCode, like {\"role\": \"user\", \"content\": \"hello\"}. Not together with text."},
    "system": {"type": ["string", "array", "object"], "description": "The system prompt that is sent with messages: a text, or blocks."},
    "tools": {"type": "array", "items": {"type": "object"}, "description": "The tool definitions that are sent with messages."},
    "model": {"type": "string", "description": "The model that would read it, like gpt-5 or claude-opus-4-6. It decides the encoding, and the window that the share is of. Without one, cl100k_base is counted in."},
    "provider": {"type": "string", "description": "Who serves the model, like anthropic or openai, where its name does not say so."},
    "encoding": {"type": "string", "description": "The encoding to count in, cl100k_base or o200k_base. It goes before the model's."},
    "framing": {"type": "string", "enum": ["none", "openai"], "description": "What a message costs beside its text: none, the default, or 3 tokens a message, 1 a name and 3 for the reply."},
    "thresholdTokens": {"type": "integer", "minimum": 1, "description": "The size above which exceedsThreshold is true. The default is a setting, 200000 unless it was changed."},
    "windowTokens": {"type": "integer", "minimum": 1, "description": "The window that percent is of, where the model does not say it."},
    "breakdown": {"type": "boolean", "description": "Return the tokens by role and by message, too."}
  },
  "additionalProperties": false
}`,
	call: func(ctx context.Context, s *Server, r *sdk.CallToolRequest) (string, any, error) {
		req, err := measureRequest(r.Params.Arguments)
		if err != nil {
			return "", nil, err
		}
		folder := ""
		if len(s.options.Folders) > 0 {
			folder = s.options.Folders[0]
		}
		m, err := s.options.Service.Measure(ctx, req, folder)
		if err != nil {
			return "", nil, err
		}
		clean(&m)
		return measureText(m), m, nil
	},
}

func measureArguments(req *conversation.MeasureRequest, text **string) map[string]argument {
	const aString, aNumber = "a string", "a whole number above 0"
	return map[string]argument{
		"text": {text, aString}, "messages": {&req.Messages, ""}, "system": {&req.System, ""}, "tools": {&req.Tools, ""},
		"model": {&req.Model, aString}, "provider": {&req.Provider, aString}, "encoding": {&req.Encoding, aString},
		"framing": {&req.Framing, `"none" or "openai"`}, "breakdown": {&req.Breakdown, "true or false"},
		"thresholdTokens": {&req.ThresholdTokens, aNumber}, "windowTokens": {&req.WindowTokens, aNumber},
	}
}

func measureRequest(raw json.RawMessage) (req conversation.MeasureRequest, err error) {
	var text *string
	if err := decode(raw, measureArguments(&req, &text)); err != nil {
		return req, err
	}
	switch {
	case text != nil && (req.Messages != nil || req.System != nil || req.Tools != nil):
		return req, coded.Field("text", "expected either text alone, or messages with system and tools")
	case text != nil:
		req.Messages, err = json.Marshal([]map[string]string{{"role": "user", "content": *text}})
	case req.Messages == nil:
		return req, coded.Errorf(coded.Invalid, "expected text, a string, or messages, an array")
	}
	return req, err
}

func measureText(m conversation.Measurement) string {
	var b strings.Builder
	quality := "an approximation"
	if m.Exact {
		quality = "exact"
	}
	relation := "not above"
	if m.ExceedsThreshold {
		relation = "above"
	}
	unit := "tokens"
	if m.Tokens == 1 {
		unit = "token"
	}
	fmt.Fprintf(&b, "%s %s (%s, %s): %s the threshold of %s.", text.Thousands(m.Tokens), unit, m.Encoding, quality, relation, text.Thousands(m.ThresholdTokens))
	if m.Percent != nil {
		fmt.Fprintf(&b, " That is %.1f%% of a window of %s.", *m.Percent, text.Thousands(*m.WindowTokens))
	}
	for _, role := range slices.Sorted(maps.Keys(m.ByRole)) {
		fmt.Fprintf(&b, "\n  %s: %s", role, text.Thousands(m.ByRole[role]))
	}
	return b.String()
}

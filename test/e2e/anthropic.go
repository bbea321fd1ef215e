//go:build linux && e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Anthropic plays the Messages API of Anthropic (https://docs.anthropic.com/en/api/messages-streaming): it answers as choose
// says, which returns what kind of request it is, too.
type Anthropic struct {
	Model
	choose func(body map[string]any) (kind string, reply Reply)
}

// A Reply is one answer of the model.
type Reply struct {
	Text  string
	Calls []Call
	// Tokens is what the answer says that its request held, in all.
	Tokens int
	// Refusal is an error message instead of an answer.
	Refusal string
	// Before is run before the answer is given.
	Before func()
	// Hang holds the answer back until the test ends.
	Hang bool
}

// A Call is one tool call of a reply.
type Call struct {
	Tool  string
	Input map[string]any
}

// OutputTokens is what every answer says that it took itself.
const OutputTokens = 77

// NewAnthropic starts a model, which ends with the test.
func NewAnthropic(t *testing.T, choose func(body map[string]any) (kind string, reply Reply)) *Anthropic {
	a := &Anthropic{choose: choose}
	a.Start(t, func(w http.ResponseWriter, r *http.Request, body map[string]any) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/count_tokens"):
			fmt.Fprintf(w, `{"input_tokens": %d}`, RoughTokens(body))
		case strings.HasSuffix(r.URL.Path, "/messages"):
			a.answer(w, r, body)
		default:
			http.NotFound(w, r)
		}
	})
	return a
}

// RoughTokens is what a model says that a request would hold: a quarter of its characters.
func RoughTokens(body map[string]any) int {
	data, _ := json.Marshal(body)
	return len(data) / 4
}

// Next takes note of a request and returns its number and the reply to it. It also serves a model that speaks another API.
func (a *Anthropic) Next(body map[string]any) (id int, reply Reply) {
	kind, reply := a.choose(body)
	id = a.Note(kind, body)
	if reply.Before != nil {
		reply.Before()
	}
	return id, reply
}

func (a *Anthropic) answer(w http.ResponseWriter, r *http.Request, body map[string]any) {
	id, reply := a.Next(body)
	if reply.Hang {
		Hang(r)
		return
	}
	if reply.Refusal != "" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, reply.Refusal)
		return
	}
	usage := map[string]any{"input_tokens": 12, "cache_creation_input_tokens": 900, "cache_read_input_tokens": CacheRead(reply.Tokens), "output_tokens": OutputTokens}
	var blocks []map[string]any
	if reply.Text != "" {
		blocks = append(blocks, map[string]any{"type": "text", "text": reply.Text})
	}
	stop := "end_turn"
	for i, c := range reply.Calls {
		stop = "tool_use"
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%03d_%d", id, i), "name": c.Tool, "input": c.Input})
	}
	message := map[string]any{
		"id": fmt.Sprintf("msg_%03d", id), "type": "message", "role": "assistant", "model": body["model"],
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}
	if body["stream"] != true {
		message["content"], message["stop_reason"] = blocks, stop
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	send := Stream(w)
	send("message_start", map[string]any{"message": message})
	for i, b := range blocks {
		start, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": b["text"]}
		if b["type"] == "tool_use" {
			input, _ := json.Marshal(b["input"])
			start = map[string]any{"type": "tool_use", "id": b["id"], "name": b["name"], "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
		}
		send("content_block_start", map[string]any{"index": i, "content_block": start})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	send("message_stop", map[string]any{})
}

// TextsOfRequest returns every text of a request to Anthropic in order: system prompt, then messages, results of tools included.
func TextsOfRequest(r Request) []string {
	return append(TextsOf(r.Body["system"]), TextsOf(r.Body["messages"])...)
}

// TextsOf returns every text and every result of a tool in a part of a request.
func TextsOf(v any) (texts []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, part := range v {
			texts = append(texts, TextsOf(part)...)
		}
	case map[string]any:
		if text, ok := v["text"]; ok {
			return TextsOf(text)
		}
		return TextsOf(v["content"])
	}
	return texts
}

// CacheRead is how many tokens of a response's context came from the provider's cache, as the model reports them.
func CacheRead(tokens int) int { return max(tokens-912, 0) }

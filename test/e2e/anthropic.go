//go:build linux && e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Anthropic plays the Messages API of Anthropic (https://docs.anthropic.com/en/api/messages-streaming): it answers as Choose
// says, and keeps what it was asked.
type Anthropic struct {
	URL string
	// Choose returns the answer to a request, and what kind of request it is, for the test's own use.
	Choose func(body map[string]any) (kind string, reply Reply)

	mu       sync.Mutex
	requests []Request
	ids      int
}

// A Reply is one answer of the model.
type Reply struct {
	Text  string
	Calls []Call
	// Tokens is what the answer says that its request held, in all.
	Tokens int
	// Before is run before the answer is given.
	Before func()
}

// A Call is one tool call of a reply.
type Call struct {
	Tool  string
	Input map[string]any
}

// A Request is one that the model received.
type Request struct {
	Kind string
	Body map[string]any
}

// OutputTokens is what every answer says that it took itself.
const OutputTokens = 77

// NewAnthropic starts a model, which ends with the test.
func NewAnthropic(t *testing.T, choose func(map[string]any) (string, Reply)) *Anthropic {
	a := &Anthropic{Choose: choose}
	server := httptest.NewServer(a)
	a.URL = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return a
}

// ServeHTTP answers one request.
func (a *Anthropic) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	var body map[string]any
	if err == nil {
		err = json.Unmarshal(data, &body)
	}
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case strings.HasSuffix(r.URL.Path, "/messages"):
		a.answer(w, body)
	default:
		http.NotFound(w, r)
	}
}

// Next takes note of a request and returns its number and the reply to it. It also serves a model that speaks another API.
func (a *Anthropic) Next(body map[string]any) (id int, reply Reply) {
	kind, reply := a.Choose(body)
	a.mu.Lock()
	a.requests = append(a.requests, Request{kind, body})
	a.ids++
	id = a.ids
	a.mu.Unlock()
	if reply.Before != nil {
		reply.Before()
	}
	return id, reply
}

func (a *Anthropic) answer(w http.ResponseWriter, body map[string]any) {
	id, reply := a.Next(body)
	usage := map[string]any{"input_tokens": 12, "cache_creation_input_tokens": 900, "cache_read_input_tokens": max(reply.Tokens-912, 0), "output_tokens": OutputTokens}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event string, members map[string]any) {
		members["type"] = event
		data, _ := json.Marshal(members)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
	}
	send("message_start", map[string]any{"message": map[string]any{
		"id": fmt.Sprintf("msg_%03d", id), "type": "message", "role": "assistant", "model": body["model"],
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}})
	block := func(index int, start, delta map[string]any) {
		send("content_block_start", map[string]any{"index": index, "content_block": start})
		send("content_block_delta", map[string]any{"index": index, "delta": delta})
		send("content_block_stop", map[string]any{"index": index})
	}
	index, stop := 0, "end_turn"
	if reply.Text != "" {
		block(index, map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": reply.Text})
		index++
	}
	for i, c := range reply.Calls {
		stop = "tool_use"
		input, _ := json.Marshal(c.Input)
		block(index,
			map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%03d_%d", id, i), "name": c.Tool, "input": map[string]any{}},
			map[string]any{"type": "input_json_delta", "partial_json": string(input)})
		index++
	}
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	send("message_stop", map[string]any{})
}

// Asked returns the requests of a kind so far, oldest first; "" stands for all.
func (a *Anthropic) Asked(kind string) (of []Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.requests {
		if kind == "" || r.Kind == kind {
			of = append(of, r)
		}
	}
	return of
}

// Texts returns every text of a request in order: system prompt, then messages, results of tools included.
func (r Request) Texts() []string {
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

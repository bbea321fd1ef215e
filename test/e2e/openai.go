//go:build linux && e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// OpenAI plays OpenAI's API of chat completions (https://platform.openai.com/docs/api-reference/chat-streaming): it answers as choose
// says, which returns what kind of request it is, too. Of what a request holds, half was read from the cache.
type OpenAI struct {
	Model
	choose func(body map[string]any) (kind string, reply Reply)
}

// NewOpenAI starts a model, which ends with the test. It lists itself as "mock-model".
func NewOpenAI(t *testing.T, choose func(body map[string]any) (kind string, reply Reply)) *OpenAI {
	m := &OpenAI{choose: choose}
	m.Start(t, func(w http.ResponseWriter, r *http.Request, body map[string]any) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/chat/completions"):
			kind, reply := m.choose(body)
			id := m.Note(kind, body)
			if reply.Before != nil {
				reply.Before()
			}
			AnswerOpenAI(w, r, body, id, reply)
		case strings.HasSuffix(r.URL.Path, "/models"):
			fmt.Fprint(w, `{"object":"list","data":[{"id":"mock-model","object":"model"}]}`)
		default:
			http.NotFound(w, r)
		}
	})
	return m
}

// AnswerOpenAI gives a reply to a request of a number, as a stream or at once.
func AnswerOpenAI(w http.ResponseWriter, r *http.Request, body map[string]any, id int, reply Reply) {
	if reply.Hang {
		Hang(r)
		return
	}
	var calls []any
	finish := "stop"
	for i, c := range reply.Calls {
		finish = "tool_calls"
		input, _ := json.Marshal(c.Input)
		calls = append(calls, map[string]any{
			"index": i, "id": fmt.Sprintf("call_%d_%d", id, i), "type": "function", "function": map[string]any{"name": c.Tool, "arguments": string(input)},
		})
	}
	usage := map[string]any{
		"prompt_tokens": reply.Tokens, "completion_tokens": OutputTokens, "total_tokens": reply.Tokens + OutputTokens,
		"prompt_tokens_details": map[string]any{"cached_tokens": reply.Tokens / 2},
	}
	message := map[string]any{"id": fmt.Sprint("chat", id), "created": 1, "model": body["model"]}
	if body["stream"] != true {
		said := map[string]any{"role": "assistant", "content": reply.Text}
		if calls != nil {
			said["tool_calls"] = calls
		}
		message["object"], message["usage"] = "chat.completion", usage
		message["choices"] = []any{map[string]any{"index": 0, "message": said, "finish_reason": finish}}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	message["object"] = "chat.completion.chunk"
	send := func(choices []any, usage any) {
		message["choices"], message["usage"] = choices, usage
		data, _ := json.Marshal(message)
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	choice := func(delta map[string]any, finish any) []any {
		return []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}
	}
	send(choice(map[string]any{"role": "assistant", "content": reply.Text}, nil), nil)
	for _, call := range calls {
		send(choice(map[string]any{"tool_calls": []any{call}}, nil), nil)
	}
	send(choice(map[string]any{}, finish), nil)
	send([]any{}, usage)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

//go:build linux && e2e

package opencode

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// newOpenAI starts a model that answers as the usual one does, but speaks OpenAI's API of chat completions.
func newOpenAI(t *testing.T, w *testEnv) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") || json.NewDecoder(r.Body).Decode(&body) != nil {
			http.NotFound(out, r)
			return
		}
		id, reply := w.model.Next(body)
		out.Header().Set("Content-Type", "text/event-stream")
		send := func(choices []any, usage any) {
			data, _ := json.Marshal(map[string]any{"id": fmt.Sprint("chat", id), "object": "chat.completion.chunk", "created": 1, "model": body["model"], "choices": choices, "usage": usage})
			fmt.Fprintf(out, "data: %s\n\n", data)
		}
		choice := func(delta map[string]any, finish any) []any {
			return []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}
		}
		send(choice(map[string]any{"role": "assistant", "content": reply.Text}, nil), nil)
		finish := "stop"
		for i, c := range reply.Calls {
			finish = "tool_calls"
			input, _ := json.Marshal(c.Input)
			send(choice(map[string]any{"tool_calls": []any{map[string]any{
				"index": i, "id": fmt.Sprintf("call_%d_%d", id, i), "type": "function", "function": map[string]any{"name": c.Tool, "arguments": string(input)},
			}}}, nil), nil)
		}
		send(choice(map[string]any{}, finish), nil)
		send([]any{}, map[string]any{"prompt_tokens": reply.Tokens, "completion_tokens": e2e.OutputTokens, "total_tokens": reply.Tokens + e2e.OutputTokens})
		fmt.Fprint(out, "data: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	return server
}

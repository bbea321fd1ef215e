//go:build linux && e2e

package codex

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// model is a fake of OpenAI's Responses API (https://platform.openai.com/docs/api-reference/responses-streaming). It
// answers by script and keeps the requests.
type model struct {
	e2e.Model
	t       *testing.T
	scripts map[string][]reply

	mu       sync.Mutex
	answered map[string]int // by turn
	spawned  string         // the sub-agent that was started last
}

// A reply is one answer of the model.
type reply struct {
	text  string
	calls []call
	// tokens is the reported size of the window after this answer.
	tokens int
	// refused makes the answer an error: the request is too long.
	refused bool
	// hang holds the answer back until the test ends.
	hang bool
}

// A call is one tool call of a reply: a function with arguments, or a custom tool with a text.
type call struct {
	namespace, name string
	arguments       map[string]any
	text            string
}

// summary is the model's answer to the request for a summary.
const summary = "The user asked for some reading."

// newModel starts a model. For a prompt that contains [[name]], it answers with the script of that name, from its first
// reply on. For other prompts it uses the script without a name.
func newModel(t *testing.T, scripts map[string][]reply) *model {
	m := &model{t: t, scripts: scripts, answered: map[string]int{}}
	m.Start(t, func(w http.ResponseWriter, r *http.Request, body map[string]any) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/responses"):
			m.answer(w, r, body)
		case strings.HasSuffix(r.URL.Path, "/models"):
			fmt.Fprint(w, `{"object": "list", "data": [], "models": []}`)
		default:
			http.NotFound(w, r)
		}
	})
	return m
}

var agentID = regexp.MustCompile(`"agent_id":"([0-9a-f-]{36})"`)

// choose returns the reply to a request, and what kind of request it is. Codex says what it asks for in a header.
func (m *model) choose(header http.Header, body map[string]any) (string, reply) {
	var about struct {
		Kind   string `json:"request_kind"`
		Turn   string `json:"turn_id"`
		Source string `json:"thread_source"`
	}
	if err := json.Unmarshal([]byte(header.Get("x-codex-turn-metadata")), &about); err != nil {
		m.t.Errorf("x-codex-turn-metadata: %v", err)
	}
	switch {
	case about.Kind == "compaction":
		return "summary", reply{text: summary, tokens: 150_000}
	case about.Source != "user" && about.Source != "subagent":
		return "other", reply{text: "A title", tokens: 100}
	}
	input, _ := body["input"].([]any)
	for i := len(input) - 1; i >= 0; i-- {
		item := input[i].(map[string]any)
		if found := agentID.FindStringSubmatch(fmt.Sprint(item["output"])); found != nil && m.spawned == "" {
			m.spawned = found[1]
		}
		if item["role"] != "user" {
			continue
		}
		for _, name := range e2e.Marked(textsOf(item)) {
			if script := m.scripts[name]; len(script) > 0 {
				m.answered[about.Turn]++
				return name, script[min(m.answered[about.Turn], len(script))-1]
			}
		}
	}
	if script := m.scripts[""]; len(script) > 0 {
		m.answered[about.Turn]++
		return "", script[min(m.answered[about.Turn], len(script))-1]
	}
	return "other", reply{text: "Going on.", tokens: 20_000}
}

func (m *model) answer(w http.ResponseWriter, r *http.Request, body map[string]any) {
	m.mu.Lock()
	kind, reply := m.choose(r.Header, body)
	id, spawned := m.Note(kind, body), m.spawned
	m.mu.Unlock()
	if reply.hang {
		e2e.Hang(r)
		return
	}
	send := e2e.Stream(w)
	response := map[string]any{"id": fmt.Sprintf("resp_%03d", id), "object": "response", "status": "in_progress", "model": body["model"], "output": []any{}}
	if reply.refused {
		response["status"] = "failed"
		response["error"] = map[string]any{"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}
		send("response.failed", map[string]any{"response": response})
		return
	}
	send("response.created", map[string]any{"response": response})
	var output []map[string]any
	if reply.text != "" {
		output = append(output, map[string]any{"type": "message", "role": "assistant", "id": fmt.Sprintf("msg_%03d", id), "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": reply.text, "annotations": []any{}}}})
	}
	for i, c := range reply.calls {
		item := map[string]any{"id": fmt.Sprintf("item_%03d_%d", id, i), "call_id": fmt.Sprintf("call_%03d_%d", id, i), "name": c.name, "status": "completed"}
		if c.text != "" {
			item["type"], item["input"] = "custom_tool_call", c.text
		} else {
			arguments, _ := json.Marshal(c.arguments)
			item["type"], item["arguments"] = "function_call", strings.ReplaceAll(string(arguments), "$AGENT", spawned)
		}
		if c.namespace != "" {
			item["namespace"] = c.namespace
		}
		output = append(output, item)
	}
	for i, item := range output {
		send("response.output_item.added", map[string]any{"output_index": i, "item": item})
		send("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	const answer = 77
	response["status"], response["output"] = "completed", output
	response["usage"] = map[string]any{
		"input_tokens": reply.tokens - answer, "input_tokens_details": map[string]any{"cached_tokens": (reply.tokens - answer) / 2},
		"output_tokens": answer, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": reply.tokens,
	}
	send("response.completed", map[string]any{"response": response})
}

// textsOf returns every text in a part of a request.
func textsOf(v any) (texts []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, part := range v {
			texts = append(texts, textsOf(part)...)
		}
	case map[string]any:
		for _, member := range []string{"text", "content", "output", "input", "arguments"} {
			texts = append(texts, textsOf(v[member])...)
		}
	}
	return texts
}

// isOurs reports whether a text comes from ctxls.
func isOurs(text string) bool {
	return strings.HasPrefix(text, "ctxls") || strings.HasPrefix(text, "[context used: ")
}

// said lists the texts of ctxls in the conversation of a request. They are messages of the developer, since Codex
// converts additionalContext to these.
func said(r e2e.Request) (said []string) {
	input, _ := r.Body["input"].([]any)
	for _, v := range input {
		if item := v.(map[string]any); item["role"] == "developer" {
			for _, text := range textsOf(item["content"]) {
				if isOurs(text) {
					said = append(said, text)
				}
			}
		}
	}
	return said
}

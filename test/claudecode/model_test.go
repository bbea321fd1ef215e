//go:build linux && e2e

package claudecode

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// model plays the Messages API of Anthropic (https://docs.anthropic.com/en/api/messages-streaming): it answers by script and
// keeps what it was asked.
type model struct {
	t       *testing.T
	server  *httptest.Server
	scripts map[string][]reply

	mu       sync.Mutex
	requests []request
	ids      int
}

// A reply is one answer of the model.
type reply struct {
	text  string
	calls []call
	// tokens is what the answer says that its request held, in all.
	tokens int
	// refusal is an error message instead of an answer.
	refusal string
	// before is called before the answer is given.
	before func()
	// hang holds the answer back until the test ends.
	hang bool
}

// A call is one tool call of a reply.
type call struct {
	name  string
	input map[string]any
}

// A request is one that the model received.
type request struct {
	kind string // the script that answered it, "summary" of a compaction, "other" of anything else
	body map[string]any
}

// summary is what the model answers when it is asked for the summary of a compaction. It names one file.
const summary = "<analysis>all of it</analysis>\n<summary>\nThe user asked for some reading; notes.txt was read.\n</summary>"

// newModel starts a model. A prompt that contains [[name]] has it answer by the script of that name, from its
// first reply on; any other has it answer by the script without a name.
func newModel(t *testing.T, scripts map[string][]reply) *model {
	m := &model{t: t, scripts: scripts}
	m.server = httptest.NewServer(m)
	t.Cleanup(func() {
		m.server.CloseClientConnections()
		m.server.Close()
	})
	return m
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	var body map[string]any
	if err == nil && len(data) > 0 {
		err = json.Unmarshal(data, &body)
	}
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		fmt.Fprintf(w, `{"input_tokens": %d}`, len(data)/4)
	case strings.HasSuffix(r.URL.Path, "/messages"):
		m.answer(w, r, body)
	default:
		http.NotFound(w, r)
	}
}

var marker = regexp.MustCompile(`\[\[([a-z-]+)\]\]`)

// choose returns the reply to a request, and what kind of request it is.
func (m *model) choose(body map[string]any) (string, reply) {
	messages, _ := body["messages"].([]any)
	if len(messages) > 0 {
		if last := strings.Join(textsOf(messages[len(messages)-1]), "\n"); strings.Contains(last, "Your task is to create a detailed summary") {
			return "summary", reply{text: summary, tokens: 100}
		}
	}
	if tools, _ := body["tools"].([]any); len(tools) == 0 {
		return "other", reply{text: "A title", tokens: 100}
	}
	answered := 0
	for i := len(messages) - 1; i >= 0; i-- {
		message := messages[i].(map[string]any)
		if message["role"] == "assistant" {
			answered++
			continue
		}
		found := marker.FindAllStringSubmatch(strings.Join(textsOf(message), "\n"), -1)
		if len(found) == 0 {
			continue
		}
		name := found[len(found)-1][1]
		if script := m.scripts[name]; len(script) > 0 {
			return name, script[min(answered, len(script)-1)]
		}
	}
	if script := m.scripts[""]; len(script) > 0 {
		return "", script[min(answered, len(script)-1)]
	}
	return "other", reply{text: "Going on.", tokens: 20_000}
}

func (m *model) answer(w http.ResponseWriter, r *http.Request, body map[string]any) {
	kind, reply := m.choose(body)
	m.mu.Lock()
	m.requests = append(m.requests, request{kind, body})
	m.ids++
	id := m.ids
	m.mu.Unlock()
	if reply.before != nil {
		reply.before()
	}
	if reply.hang {
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
		return
	}
	if reply.refusal != "" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, reply.refusal)
		return
	}
	usage := map[string]any{"input_tokens": 12, "cache_creation_input_tokens": 900, "cache_read_input_tokens": max(reply.tokens-912, 0), "output_tokens": 77}
	var blocks []map[string]any
	if reply.text != "" {
		blocks = append(blocks, map[string]any{"type": "text", "text": reply.text})
	}
	stop := "end_turn"
	for i, c := range reply.calls {
		stop = "tool_use"
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%03d_%d", id, i), "name": c.name, "input": c.input})
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
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event string, members map[string]any) {
		members["type"] = event
		data, _ := json.Marshal(members)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
	}
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

// asked returns the requests of a kind so far, oldest first.
func (m *model) asked(kind string) (of []request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.requests {
		if r.kind == kind {
			of = append(of, r)
		}
	}
	return of
}

// last returns the newest request of a kind.
func (m *model) last(kind string) request {
	m.t.Helper()
	of := m.asked(kind)
	if len(of) == 0 {
		m.t.Fatalf("the model was never asked for %q; kinds asked: %v", kind, m.kinds())
	}
	return of[len(of)-1]
}

func (m *model) kinds() (kinds []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.requests {
		kinds = append(kinds, r.kind)
	}
	return kinds
}

// texts returns every text of a request in order: system prompt, then messages, tool results included.
func (r request) texts() []string {
	return append(textsOf(r.body["system"]), textsOf(r.body["messages"])...)
}

// textsOf returns every text and every tool result in a part of a request.
func textsOf(v any) (texts []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, part := range v {
			texts = append(texts, textsOf(part)...)
		}
	case map[string]any:
		if text, ok := v["text"]; ok {
			return textsOf(text)
		}
		return textsOf(v["content"])
	}
	return texts
}

// framed is how Claude Code passes on what a hook says, bare how it does for newer models: in a message with the role "system", the
// first of them before what it says itself.
var framed = regexp.MustCompile(`(?s)<system-reminder>\n(\w+)(?::\w+)? hook additional context: (.*?)\n</system-reminder>\n*`)
var bare = regexp.MustCompile(`(?s)^(\w+)(?::\w+)? hook additional context: (.*?)(\n\n# Environment\n.*)?$`)

// shown is what Claude Code prints for people when they type a command; it is part of the conversation.
var shown = regexp.MustCompile(`(?s)<local-command-stdout>.*?</local-command-stdout>`)

// said lists what hooks said in the conversation that a request carries, as "Event: text". In these tests no hook but ours
// speaks.
func (r request) said() (said []string) {
	for _, text := range r.texts() {
		for _, m := range framed.FindAllStringSubmatch(text, -1) {
			said = append(said, m[1]+": "+m[2])
		}
		if m := bare.FindStringSubmatch(text); m != nil {
			said = append(said, m[1]+": "+m[2])
		}
	}
	return said
}

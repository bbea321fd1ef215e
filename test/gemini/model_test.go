//go:build linux && e2e

package gemini

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

// model plays the Gemini API (https://ai.google.dev/api/generate-content): it answers by script and keeps what it was asked.
type model struct {
	t       *testing.T
	server  *httptest.Server
	scripts map[string][]reply

	mu       sync.Mutex
	requests []request
}

// A reply is one answer of the model.
type reply struct {
	text  string
	calls []call
	// tokens is what the answer says that its request held.
	tokens int
	// hang holds the answer back until the test ends.
	hang bool
}

// A call is one tool call of a reply.
type call struct {
	name string
	args map[string]any
}

// A request is one that the model received.
type request struct {
	kind string // the script that answered it, "summary" of a compaction, "other" of anything else
	at   time.Time
	body map[string]any
}

// summary is what the model answers when it is asked for the summary of a compaction.
const summary = "<scratchpad>all of it</scratchpad><state_snapshot>The user asked for some reading.</state_snapshot>"

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
	case strings.HasSuffix(r.URL.Path, ":countTokens"):
		fmt.Fprintf(w, `{"totalTokens": %d}`, len(data)/4)
	case strings.HasSuffix(r.URL.Path, ":streamGenerateContent"):
		m.answer(w, r, body, true)
	case strings.HasSuffix(r.URL.Path, ":generateContent"):
		m.answer(w, r, body, false)
	default:
		http.NotFound(w, r)
	}
}

var marker = regexp.MustCompile(`\[\[([a-z-]+)\]\]`)

// choose returns the reply to a request, and what kind of request it is.
func (m *model) choose(body map[string]any) (string, reply) {
	contents, _ := body["contents"].([]any)
	if tools, _ := body["tools"].([]any); len(tools) == 0 {
		if strings.Contains(strings.Join(textsOf(body["systemInstruction"]), "\n"), "state_snapshot") {
			return "summary", reply{text: summary, tokens: 100}
		}
		return "other", reply{text: "{}", tokens: 100}
	}
	answered := 0
	for i := len(contents) - 1; i >= 0; i-- {
		content := contents[i].(map[string]any)
		if content["role"] == "model" {
			answered++
			continue
		}
		found := marker.FindAllStringSubmatch(strings.Join(textsOf(content), "\n"), -1)
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

func (m *model) answer(w http.ResponseWriter, r *http.Request, body map[string]any, stream bool) {
	kind, reply := m.choose(body)
	m.mu.Lock()
	m.requests = append(m.requests, request{kind, time.Now(), body})
	m.mu.Unlock()
	if reply.hang {
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
		return
	}
	var parts []any
	for _, c := range reply.calls {
		parts = append(parts, map[string]any{"functionCall": map[string]any{"name": c.name, "args": c.args}})
	}
	part := func(parts []any, last bool) []byte {
		candidate := map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "index": 0}
		if last {
			candidate["finishReason"] = "STOP"
		}
		data, _ := json.Marshal(map[string]any{
			"candidates": []any{candidate}, "modelVersion": "test",
			"usageMetadata": map[string]any{
				"promptTokenCount": reply.tokens, "cachedContentTokenCount": max(reply.tokens-912, 0), "candidatesTokenCount": 77, "totalTokenCount": reply.tokens + 77,
			},
		})
		return data
	}
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(part(append([]any{map[string]any{"text": reply.text}}, parts...), true))
		return
	}
	// A text comes in two parts, as long ones do.
	w.Header().Set("Content-Type", "text/event-stream")
	if half := len(reply.text) / 2; half > 0 {
		fmt.Fprintf(w, "data: %s\n\n", part([]any{map[string]any{"text": reply.text[:half]}}, false))
		parts = append([]any{map[string]any{"text": reply.text[half:]}}, parts...)
	}
	fmt.Fprintf(w, "data: %s\n\n", part(parts, true))
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

// texts returns every text of a request in order: system instruction, then contents, results of tools included.
func (r request) texts() []string {
	return append(textsOf(r.body["systemInstruction"]), textsOf(r.body["contents"])...)
}

// textsOf returns every text and every result of a tool in a part of a request.
func textsOf(v any) (texts []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, part := range v {
			texts = append(texts, textsOf(part)...)
		}
	case map[string]any:
		for _, name := range []string{"text", "parts", "functionResponse", "response", "output", "error"} {
			texts = append(texts, textsOf(v[name])...)
		}
	}
	return texts
}

// framed is how Gemini CLI passes on what a hook says.
var framed = regexp.MustCompile(`(?s)<hook_context>(.*?)</hook_context>`)

// said lists what hooks said in the conversation that a request carries. In these tests no hook but ours speaks.
func (r request) said() (said []string) {
	for _, text := range textsOf(r.body["contents"]) {
		for _, m := range framed.FindAllStringSubmatch(text, -1) {
			said = append(said, m[1])
		}
	}
	return said
}

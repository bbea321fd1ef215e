//go:build linux && e2e

package gemini

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// model plays the Gemini API (https://ai.google.dev/api/generate-content): it answers by script and keeps what it was asked.
type model struct {
	e2e.Model
	scripts map[string][]reply
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

// summary is what the model answers when it is asked for the summary of a compaction.
const summary = "<scratchpad>all of it</scratchpad><state_snapshot>The user asked for some reading.</state_snapshot>"

// newModel starts a model. A prompt that contains [[name]] has it answer by the script of that name, from its
// first reply on; any other has it answer by the script without a name.
func newModel(t *testing.T, scripts map[string][]reply) *model {
	m := &model{scripts: scripts}
	m.Start(t, func(w http.ResponseWriter, r *http.Request, body map[string]any) {
		switch {
		case strings.HasSuffix(r.URL.Path, ":countTokens"):
			fmt.Fprintf(w, `{"totalTokens": %d}`, e2e.RoughTokens(body))
		case strings.HasSuffix(r.URL.Path, ":streamGenerateContent"):
			m.answer(w, r, body, true)
		case strings.HasSuffix(r.URL.Path, ":generateContent"):
			m.answer(w, r, body, false)
		default:
			http.NotFound(w, r)
		}
	})
	return m
}

// choose returns the reply to a request, and what kind of request it is.
func (m *model) choose(body map[string]any) (string, reply) {
	contents, _ := body["contents"].([]any)
	if tools, _ := body["tools"].([]any); len(tools) == 0 {
		if strings.Contains(strings.Join(textsOf(body["systemInstruction"]), "\n"), "state_snapshot") {
			return "summary", reply{text: summary, tokens: 100}
		}
		return "other", reply{text: "{}", tokens: 100}
	}
	if name, reply, ok := e2e.Script(m.scripts, contents, "model", textsOf); ok {
		return name, reply
	}
	return "other", reply{text: "Going on.", tokens: 20_000}
}

func (m *model) answer(w http.ResponseWriter, r *http.Request, body map[string]any, stream bool) {
	kind, reply := m.choose(body)
	m.Note(kind, body)
	if reply.hang {
		e2e.Hang(r)
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

// texts returns every text of a request in order: system instruction, then contents, results of tools included.
func texts(r e2e.Request) []string {
	return append(textsOf(r.Body["systemInstruction"]), textsOf(r.Body["contents"])...)
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
func said(r e2e.Request) (said []string) {
	for _, text := range textsOf(r.Body["contents"]) {
		for _, m := range framed.FindAllStringSubmatch(text, -1) {
			said = append(said, m[1])
		}
	}
	return said
}

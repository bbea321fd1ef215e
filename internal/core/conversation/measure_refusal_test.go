package conversation

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/coded"
)

func TestMeasureInvalidUTF8(t *testing.T) {
	got := mustMeasure(t, MeasureRequest{Conversation: conversation("{\"role\":\"user\",\"content\":\"a\xff\xfeb\"}")})
	if want := count("a\xff\xfeb"); got.Tokens != want {
		t.Errorf("got %d tokens, want %d", got.Tokens, want)
	}
}

// Content that nests deeper than any real conversation is not parsed. Otherwise every level would be read once for each
// level around it, and ten megabytes would take seconds.
func TestMeasureDeepNesting(t *testing.T) {
	results := func(levels int, inside string) string {
		return strings.Repeat(`{"type":"tool_result","tool_use_id":"a","content":[`, levels) + inside + strings.Repeat(`]}`, levels)
	}
	responses := func(levels int, inside string) string {
		return strings.Repeat(`{"functionResponse":{"name":"f","parts":[`, levels) + inside + strings.Repeat(`]}}`, levels)
	}
	text := `{"text":"` + words(7) + `","type":"text"}`
	for _, tt := range []struct {
		block  string
		tokens int
		exact  bool
	}{
		{results(maxNested-1, text), 7, true},
		{results(maxNested, text), count("[" + text + "]"), false},
		{results(4000, text), count("[" + results(4000-maxNested, text) + "]"), false},
		{responses(maxNested-1, text), 7 + (maxNested-1)*count("f"), true},
		{responses(maxNested, text), count("["+text+"]") + maxNested*count("f"), false},
	} {
		got := mustMeasure(t, MeasureRequest{Conversation: conversation(`{"role":"user","content":[` + tt.block + `]}`)})
		if got.Tokens != tt.tokens || got.Exact != tt.exact {
			t.Errorf("%.60s…: got %d tokens, exact %v; want %d, %v", tt.block, got.Tokens, got.Exact, tt.tokens, tt.exact)
		}
	}
}

func TestMeasureRefuses(t *testing.T) {
	number := func(n int) *int { return &n }
	user := conversation(`{"role":"user","content":"hi"}`)
	message := func(m string) MeasureRequest {
		return MeasureRequest{Conversation: conversation(`{"role":"user","content":""}`, m)}
	}
	raw := func(m string) MeasureRequest {
		return MeasureRequest{Conversation: Conversation{Messages: json.RawMessage(m)}}
	}
	for _, tt := range []struct {
		req  MeasureRequest
		want string
	}{
		{raw(``), "messages: expected an array, got nothing"},
		{raw(`null`), "messages: expected an array, got null"},
		{raw(`{}`), "messages: expected an array, got an object"},
		{raw(`[{]`), "messages: not valid JSON at byte 2: expected a member name"},
		{raw(`[1,]`), "messages: not valid JSON at byte 3: expected a value"},
		{message(`"hi"`), "messages[1]: expected an object, got a string"},
		{message(`{"content":"hi"}`), "messages[1].role: expected a string, got nothing"},
		{message(`{"role":1,"content":"hi"}`), "messages[1].role: expected a string, got a number"},
		{message(`{"role":"user"}`), "messages[1].content: expected a string or an array, got nothing"},
		{message(`{"role":"user","content":7}`), "messages[1].content: expected a string or an array, got a number"},
		{message(`{"role":"user","content":{}}`), "messages[1].content: expected a string or an array, got an object"},
		{message(`{"role":"tool","content":true}`), "messages[1].content: expected a string or an array, got a boolean"},
		{message(`{"role":"user","name":[],"content":""}`), "messages[1].name: expected a string, got an array"},
		{message(`{"role":"user","content":[1]}`), "messages[1].content[0]: expected an object, got a number"},
		{message(`{"role":"user","content":["",{"type":1}]}`), "messages[1].content[1].type: expected a string, got a number"},
		{message(`{"role":"user","content":[{"type":"text"}]}`), "messages[1].content[0].text: expected a string, got nothing"},
		{message(`{"role":"user","content":[{"type":"thinking","thinking":1}]}`), "messages[1].content[0].thinking: expected a string, got a number"},
		{message(`{"role":"user","content":[{"type":"tool_use","input":{}}]}`), "messages[1].content[0].name: expected a string, got nothing"},
		{message(`{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":2}]}]}`), "messages[1].content[0].content[0].text: expected a string, got a number"},
		{message(`{"role":"user","content":[{"type":"image"}]}`), "messages[1].content[0].source: expected an object, got nothing"},
		{message(`{"role":"user","content":[{"type":"document","title":1}]}`), "messages[1].content[0].title: expected a string, got a number"},
		{message(`{"role":"user","content":[{"type":"document","source":{"type":"text"}}]}`), "messages[1].content[0].source.data: expected a string, got nothing"},
		{message(`{"role":"user","content":[{"type":"image_url","image_url":{"url":1}}]}`), "messages[1].content[0].image_url.url: expected a string, got a number"},
		{message(`{"role":"user","content":"","refusal":1}`), "messages[1].refusal: expected a string, got a number"},
		{message(`{"role":"assistant","tool_calls":1}`), "messages[1].tool_calls: expected an array, got a number"},
		{message(`{"role":"assistant","tool_calls":[1]}`), "messages[1].tool_calls[0]: expected an object, got a number"},
		{message(`{"role":"assistant","tool_calls":[{"function":1}]}`), "messages[1].tool_calls[0].function: expected an object, got a number"},
		{message(`{"role":"assistant","tool_calls":[{"function":{}}]}`), "messages[1].tool_calls[0].function.name: expected a string, got nothing"},
		{message(`{"role":"assistant","function_call":[]}`), "messages[1].function_call: expected an object, got an array"},
		{message(`{"info":1,"parts":[]}`), "messages[1].info: expected an object, got a number"},
		{message(`{"info":{},"parts":[]}`), "messages[1].info.role: expected a string, got nothing"},
		{message(`{"info":{"role":"user"}}`), "messages[1].parts: expected an array, got nothing"},
		{message(`{"info":{"role":"user"},"parts":[1]}`), "messages[1].parts[0]: expected an object, got a number"},
		{message(`{"info":{"role":"user"},"parts":[{}]}`), "messages[1].parts[0].type: expected a string, got nothing"},
		{message(`{"info":{"role":"user"},"parts":[{"type":"file"}]}`), "messages[1].parts[0].url: expected a string, got nothing"},
		{message(`{"info":{"role":"user"},"parts":[{"type":"tool"}]}`), "messages[1].parts[0].tool: expected a string, got nothing"},
		{message(`{"info":{"role":"user"},"parts":[{"type":"tool","tool":"x","state":{"output":1}}]}`), "messages[1].parts[0].state.output: expected a string, got a number"},
		{message(`{"info":{"role":"user"},"parts":[{"type":"tool","tool":"x","state":{"output":"","attachments":[{"type":"file"}]}}]}`), "messages[1].parts[0].state.attachments[0].url: expected a string, got nothing"},
		{message(`{"role":1,"parts":[]}`), "messages[1].role: expected a string, got a number"},
		{message(`{"role":"user","parts":{}}`), "messages[1].parts: expected an array, got an object"},
		{message(`{"parts":[{"text":1}]}`), "messages[1].parts[0].text: expected a string, got a number"},
		{message(`{"parts":[{"functionCall":{}}]}`), "messages[1].parts[0].functionCall.name: expected a string, got nothing"},
		{message(`{"parts":[{"functionResponse":{}}]}`), "messages[1].parts[0].functionResponse.name: expected a string, got nothing"},
		{message(`{"parts":[{"functionResponse":{"name":"x","parts":[{"text":1}]}}]}`), "messages[1].parts[0].functionResponse.parts[0].text: expected a string, got a number"},
		{MeasureRequest{Conversation: Conversation{Messages: user.Messages, System: json.RawMessage(`7`)}}, "system: expected a string or an array, got a number"},
		{MeasureRequest{Conversation: Conversation{Messages: user.Messages, System: json.RawMessage(`"`)}}, "system: not valid JSON at byte 1: expected the end of a string"},
		{MeasureRequest{Conversation: Conversation{Messages: user.Messages, Tools: json.RawMessage(`{}`)}}, "tools: expected an array, got an object"},
		{MeasureRequest{Conversation: Conversation{Messages: user.Messages, Framing: "lsp"}}, `framing: expected "none" or "openai", got "lsp"`},
		{MeasureRequest{Conversation: Conversation{Messages: user.Messages, Encoding: "p50k"}}, `encoding: unknown encoding "p50k": cl100k_base and o200k_base are supported`},
		{MeasureRequest{Conversation: user, ThresholdTokens: number(0)}, "thresholdTokens: expected a whole number above 0, got 0"},
		{MeasureRequest{Conversation: user, WindowTokens: number(-1)}, "windowTokens: expected a whole number above 0, got -1"},
	} {
		_, err := testMeter().Measure(tt.req)
		e, ok := errors.AsType[*coded.Error](err)
		if !ok || e.Code != coded.Invalid || e.Error() != tt.want {
			t.Errorf("%s\n got %v\nwant %s (invalid)", tt.req.Messages, err, tt.want)
		}
	}
}

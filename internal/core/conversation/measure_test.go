package conversation

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/token"
)

// bpe counts with tiktoken-go itself, so that expected counts do not come from our own code.
type bpe struct{ *tiktoken.Tiktoken }

func (b bpe) Count(text string) int { return len(b.EncodeOrdinary(text)) }

var encodings = sync.OnceValue(func() map[string]token.Counter {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	counters := map[string]token.Counter{}
	for _, name := range []string{"cl100k_base", "o200k_base"} {
		enc, err := tiktoken.GetEncoding(name)
		if err != nil {
			panic(err)
		}
		counters[name] = bpe{enc}
	}
	return counters
})

// testMeter counts in the same way as the program.
func testMeter() *Meter {
	return NewMeter(func(encoding string) (token.Counter, error) { return token.Get(encoding) }, token.ForModel)
}

// count returns the tokens of a text in cl100k_base.
func count(text string) int { return encodings()["cl100k_base"].Count(text) }

func counts(texts ...string) (sum int) {
	for _, text := range texts {
		sum += count(text)
	}
	return sum
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func conversation(messages ...string) Conversation {
	return Conversation{Messages: json.RawMessage("[" + strings.Join(messages, ",") + "]")}
}

func mustMeasure(t *testing.T, req MeasureRequest) Measurement {
	t.Helper()
	got, err := testMeter().Measure(req)
	if err != nil {
		t.Fatalf("Measure: %v", err)
	}
	return got
}

// words returns a text of exactly n tokens.
func words(n int) string { return strings.Repeat(" the", n) }

func TestMeasureThreshold(t *testing.T) {
	for _, tt := range []struct {
		tokens  int
		exceeds bool
	}{{150_000, false}, {200_000, false}, {200_001, true}} {
		got := mustMeasure(t, MeasureRequest{Conversation: conversation(`{"role":"user","content":` + quote(words(tt.tokens)) + `}`)})
		want := Measurement{Tokens: tt.tokens, ExceedsThreshold: tt.exceeds, ThresholdTokens: 200_000, Encoding: "cl100k_base", Exact: true}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d tokens (-want +got):\n%s", tt.tokens, diff)
		}
	}
}

func TestMeasureText(t *testing.T) {
	window := 100
	for _, text := range []string{"", words(150_000), "[ \"no\" ] <|endoftext|> \x00\xff\u2028\r\n"} {
		req := MeasureRequest{Conversation: Conversation{Model: "gpt-4", Framing: "openai"}, WindowTokens: &window, Breakdown: true}
		got, err := testMeter().MeasureText(text, req)
		if err != nil {
			t.Fatal(err)
		}
		tokens := count(text) + 3
		percent := float64(tokens + 3)
		want := Measurement{
			Tokens: tokens + 3, ThresholdTokens: 200_000, WindowTokens: &window, Percent: &percent, Encoding: "cl100k_base", Exact: true,
			ByRole: map[string]int{"user": tokens, "assistant": 3}, ByMessage: []int{tokens}, Roles: []string{"user"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.20q (-want +got):\n%s", text, diff)
		}
	}
	_, err := testMeter().MeasureText("", MeasureRequest{Conversation: Conversation{Framing: "lsp"}})
	if coded.CodeOf(err) != coded.Invalid {
		t.Errorf("got %v", err)
	}
}

func TestMeasureForms(t *testing.T) {
	for _, tt := range []struct {
		name, message string
		texts         []string // the text that the model reads
	}{
		{"a string", `{"role":"user","content":"Hello, world"}`, []string{"Hello, world"}},
		{"parts", `{"role":"user","content":[{"type":"text","text":"one"},{"text":"two words","type":"text"}]}`, []string{"one", "two words"}},
		{"a name", `{"role":"user","name":"ada lovelace","content":"hi"}`, []string{"ada lovelace", "hi"}},
		{"a special token", `{"role":"user","content":"before <|endoftext|> after"}`, []string{"before <|endoftext|> after"}},
		{"escapes", `{"role":"user","content":"a\u0041\n\ud83d\ude00\/\"\ttail"}`, []string{"aA\n😀/\"\ttail"}},
		{"a lone surrogate", `{"role":"user","content":"x\ud83dy"}`, []string{"x\ufffdy"}},
		{"two lone surrogates", `{"role":"user","content":"\ud83d\ud83d"}`, []string{"\ufffd\ufffd"}},
		{"an escaped member name", `{"r\u006fle":"user","c\u006fntent":"hello there"}`, []string{"hello there"}},
		{"a member twice: the last one counts", `{"role":"user","content":"first one","content":"second"}`, []string{"second"}},
		{
			"tool calls", `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\": \"a.go\"}"}}]}`,
			[]string{"read", `{"path": "a.go"}`},
		},
		{
			"a custom tool call", `{"role":"assistant","tool_calls":[{"id":"c1","type":"custom","custom":{"name":"patch","input":"*** Begin"}}]}`,
			[]string{"patch", "*** Begin"},
		},
		{
			"arguments that are not a string", `{"role":"assistant","tool_calls":[{"function":{"name":"read","arguments":{ "path" : "a\/b \u00e9 \n \"" }}}]}`,
			[]string{"read", `{"path":"a/b é \n \""}`},
		},
		{"a function call", `{"role":"assistant","content":null,"function_call":{"name":"read","arguments":"{}"}}`, []string{"read", "{}"}},
		{"a function's answer", `{"role":"function","name":"read","content":"package main"}`, []string{"read", "package main"}},
		{"a refusal", `{"role":"assistant","refusal":"I cannot do that"}`, []string{"I cannot do that"}},
		{"a refusal part", `{"role":"assistant","content":[{"type":"refusal","refusal":"no way"}]}`, []string{"no way"}},
		{"reasoning", `{"role":"assistant","reasoning_content":"let me see","content":"yes"}`, []string{"let me see", "yes"}},
		{"a tool's answer", `{"role":"tool","tool_call_id":"c1","content":"package main"}`, []string{"package main"}},
		{"null", `{"role":"assistant","content":null}`, nil},

		{"strings among blocks", `{"role":"user","content":["one",{"type":"text","text":"two"}]}`, []string{"one", "two"}},
		{
			"thinking", `{"role":"assistant","content":[{"type":"thinking","thinking":"let me think about it","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h"},{"type":"text","text":"done"}]}`,
			[]string{"let me think about it", "done"},
		},
		{
			"tool use", `{"role":"assistant","content":[{"type":"text","text":"I look"},{"type":"tool_use","id":"t1","name":"Read","input":{"file_path": "/a"}}]}`,
			[]string{"I look", "Read", `{"file_path":"/a"}`},
		},
		{
			"a server's tool", `{"role":"assistant","content":[{"type":"server_tool_use","id":"t1","name":"web_search","input":{"query":"go"}}]}`,
			[]string{"web_search", `{"query":"go"}`},
		},
		{
			"tool results and text", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"file body"},{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"more"}],"is_error":true},{"type":"text","text":"and now"}]}`,
			[]string{"file body", "more", "and now"},
		},
		{"a tool result without content", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]}`, nil},
		{
			"documents of text", `{"role":"user","content":[{"type":"document","title":"Notes","context":"from Ada","source":{"type":"text","media_type":"text/plain","data":"the notes"}},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"a chunk"}]}}]}`,
			[]string{"Notes", "from Ada", "the notes", "a chunk"},
		},

		{
			"OpenCode", `{"info":{"id":"m","role":"assistant","tokens":{"input":9}},"parts":[{"type":"step-start"},{"type":"reasoning","text":"hm"},{"type":"text","text":"Reading."},{"type":"tool","callID":"c","tool":"read","state":{"status":"completed","input":{"filePath": "x"},"output":"alpha","title":"notes","metadata":{"preview":"alpha"}}},{"type":"step-finish","tokens":{}},{"type":"patch","hash":"h","files":[]}]}`,
			[]string{"hm", "Reading.", "read", `{"filePath":"x"}`, "alpha"},
		},
		{
			"OpenCode tools that failed, wait, were pruned", `{"info":{"role":"assistant"},"parts":[{"type":"tool","tool":"read","state":{"status":"error","input":{},"error":"no such file"}},{"type":"tool","tool":"bash","state":{"status":"running","input":{}}},{"type":"tool","tool":"grep","state":{"status":"completed","input":{},"output":"long","time":{"start":1,"compacted":2}}}]}`,
			[]string{"read", "{}", "no such file", "bash", "{}", "[Tool execution was interrupted]", "grep", "{}", "[Old tool result content cleared]"},
		},
		{
			"OpenCode's own", `{"info":{"role":"user"},"parts":[{"type":"text","text":"seen"},{"type":"text","text":"not seen","ignored":true},{"type":"compaction","auto":true},{"type":"subtask","prompt":"p"},{"type":"file","mime":"text/plain","url":"file:///a"}]}`,
			[]string{"seen", "What did we do so far?", "The following tool was executed by the user"},
		},

		{"Gemini", `{"role":"user","parts":[{"text":"hello there"}]}`, []string{"hello there"}},
		{"Gemini without a role", `{"parts":[{"text":"hello there"}]}`, []string{"hello there"}},
		{
			"a Gemini call", `{"role":"model","parts":[{"text":"thinking about it","thought":true},{"functionCall":{"name":"read_file","args":{"path": "a"}},"thoughtSignature":"abcdefgh"}]}`,
			[]string{"thinking about it", "read_file", `{"path":"a"}`},
		},
		{
			"a Gemini answer", `{"role":"user","parts":[{"function_response":{"name":"read_file","response":{"output": "alpha"}}}]}`,
			[]string{"read_file", `{"output":"alpha"}`},
		},
		{
			"Gemini code", `{"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"print(1)"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1\n"}}]}`,
			[]string{"print(1)", "1\n"},
		},
		{"Gemini text as data", `{"role":"user","parts":[{"inlineData":{"mimeType":"text/plain","data":"aGVsbG8gdGhlcmU="}}]}`, []string{"hello there"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := mustMeasure(t, MeasureRequest{Conversation: conversation(tt.message)})
			if want := counts(tt.texts...); got.Tokens != want || !got.Exact {
				t.Errorf("got %d tokens, exact %v; want %d, exact", got.Tokens, got.Exact, want)
			}
		})
	}
}

func TestMeasureAroundTheMessages(t *testing.T) {
	c := conversation(`{"role":"user","content":"hi"}`)
	for _, tt := range []struct {
		system, tools string
		texts         []string
	}{
		{`"You are terse."`, ``, []string{"You are terse."}},
		{`[{"type":"text","text":"You are terse.","cache_control":{"type":"ephemeral"}},"Really."]`, ``, []string{"You are terse.", "Really."}},
		{`{"parts":[{"text":"You are terse."}]}`, ``, []string{"You are terse."}},
		{`null`, `null`, nil},
		{``, `[{"name": "read", "input_schema": {"type":"object"}}, {"name":"write"}]`, []string{`{"name":"read","input_schema":{"type":"object"}}`, `{"name":"write"}`}},
	} {
		c.System, c.Tools = json.RawMessage(tt.system), json.RawMessage(tt.tools)
		got := mustMeasure(t, MeasureRequest{Conversation: c})
		if want := count("hi") + counts(tt.texts...); got.Tokens != want {
			t.Errorf("system %s, tools %s: got %d tokens, want %d", tt.system, tt.tools, got.Tokens, want)
		}
	}
}

func TestMeasureBreakdownAndFraming(t *testing.T) {
	c := conversation(
		`{"role":"system","content":"Be terse."}`,
		`{"role":"user","name":"ada","content":"hello"}`,
		`{"role":"assistant","content":"hi there"}`,
		`{"role":"user","content":"bye"}`)
	c.System, c.Tools = json.RawMessage(`"More rules."`), json.RawMessage(`[{"name":"read"}]`)
	window := 1000
	req := MeasureRequest{Conversation: c, WindowTokens: &window, Breakdown: true}

	rules, more, tool := count("Be terse."), count("More rules."), count(`{"name":"read"}`)
	hello, there, bye := counts("ada", "hello"), count("hi there"), count("bye")
	got := mustMeasure(t, req)
	total := rules + more + tool + hello + there + bye
	percent := float64(total) / 10
	want := Measurement{
		Tokens: total, ThresholdTokens: 200_000, WindowTokens: &window, Percent: &percent, Encoding: "cl100k_base", Exact: true,
		ByRole:    map[string]int{"system": rules + more, "tools": tool, "user": hello + bye, "assistant": there},
		ByMessage: []int{rules, hello, there, bye},
		Roles:     []string{"system", "user", "assistant", "user"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("no framing (-want +got):\n%s", diff)
	}

	req.Framing = "openai"
	got = mustMeasure(t, req)
	want.Tokens += 4*3 + 1 + 3
	percent = float64(want.Tokens) / 10
	want.ByRole = map[string]int{"system": rules + more + 3, "tools": tool, "user": hello + bye + 7, "assistant": there + 3 + 3}
	want.ByMessage = []int{rules + 3, hello + 4, there + 3, bye + 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("openai framing (-want +got):\n%s", diff)
	}
}

func TestMeasureEncodingAndExact(t *testing.T) {
	text := conversation(`{"role":"user","content":"Übergrößenträger ist ein schönes Wort"}`)
	for _, tt := range []struct {
		model, encoding, tools string
		want                   string
		exact                  bool
	}{
		{"", "", "", "cl100k_base", true},
		{"", "o200k_base", "", "o200k_base", true},
		{"gpt-4o", "", "", "o200k_base", true},
		{"gpt-4o", "o200k_base", "", "o200k_base", true},
		{"gpt-4o", "cl100k_base", "", "cl100k_base", false},
		{"gpt-4o", "", `[{"name":"read"}]`, "o200k_base", false},
		{"gpt-4o", "", `[]`, "o200k_base", true},
		{"gpt-4o", "", `null`, "o200k_base", true},
		{"", "", `[{"name":"read"}]`, "cl100k_base", true},
		{"claude-opus-4-6", "", "", "cl100k_base", false},
		{"claude-opus-4-6", "o200k_base", "", "o200k_base", false},
		{"someone-elses", "", "", "cl100k_base", false},
	} {
		c := text
		c.Model, c.Encoding, c.Tools = tt.model, tt.encoding, json.RawMessage(tt.tools)
		got := mustMeasure(t, MeasureRequest{Conversation: c})
		tokens := encodings()[tt.want].Count("Übergrößenträger ist ein schönes Wort")
		if strings.HasPrefix(tt.tools, "[") {
			tokens += encodings()[tt.want].Count(tt.tools[1 : len(tt.tools)-1])
		}
		if got.Encoding != tt.want || got.Exact != tt.exact || got.Tokens != tokens {
			t.Errorf("model %q, encoding %q, tools %s: got %s, exact %v, %d tokens; want %s, %v, %d",
				tt.model, tt.encoding, tt.tools, got.Encoding, got.Exact, got.Tokens, tt.want, tt.exact, tokens)
		}
	}
}

// Unknown content and content other than text gets an estimate, and the count is never called exact.
func TestMeasureInexact(t *testing.T) {
	signature := strings.Repeat("A", 1150)
	for _, tt := range []struct {
		name, message string
		tokens        int
	}{
		{"an unknown block", `{"role":"user","content":[{"type":"hologram", "data":[1, 2]}]}`, count(`{"type":"hologram","data":[1,2]}`)},
		{"a block without a type", `{"role":"user","content":[{"x": 1}]}`, count(`{"x":1}`)},
		{"an unknown part of Gemini's", `{"role":"user","parts":[{"hologram": 1}]}`, count(`{"hologram":1}`)},
		{"an unknown part of OpenCode's", `{"info":{"role":"user"},"parts":[{"type":"hologram"}]}`, count(`{"type":"hologram"}`)},
		{"an unknown call", `{"role":"assistant","tool_calls":[{"id":"c1","type":"hologram"}]}`, count(`{"id":"c1","type":"hologram"}`)},
		{"sound", `{"role":"user","content":[{"type":"input_audio","input_audio":{"format":"wav","data":"` + strings.Repeat("A", 64_000) + `"}}]}`, 96},
		{"sound that is not there", `{"role":"user","content":[{"type":"input_audio"}]}`, count(`{"type":"input_audio"}`)},
		{"sound of a former answer", `{"role":"assistant","audio":{"id":"audio_1"}}`, count(`{"id":"audio_1"}`)},
		{"redacted thinking", `{"role":"assistant","content":[{"type":"redacted_thinking","data":"` + signature + `"}]}`, 205},
		{"thinking held back", `{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"` + signature + `"}]}`, 205},
		{"redacted thinking without data", `{"role":"assistant","content":[{"type":"redacted_thinking"}]}`, 0},
	} {
		got := mustMeasure(t, MeasureRequest{Conversation: conversation(tt.message)})
		if got.Tokens != tt.tokens || got.Exact {
			t.Errorf("%s: got %d tokens, exact %v; want %d, not exact", tt.name, got.Tokens, got.Exact, tt.tokens)
		}
	}
}

// The same turns in OpenCode's store and in its request to the model, captured from one session.
func TestMeasureOpenCodeAsSent(t *testing.T) {
	measure := func(name string) int {
		raw, err := os.ReadFile("testdata/opencode/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return mustMeasure(t, MeasureRequest{Conversation: Conversation{Messages: raw}}).Tokens
	}
	if kept, sent := measure("kept.json"), measure("sent.json"); kept != sent || kept == 0 {
		t.Errorf("kept, it measures %d tokens; sent, %d", kept, sent)
	}
}

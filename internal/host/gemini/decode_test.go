package gemini

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/hosttest"
)

func decode(t *testing.T, payload string) session.Event {
	t.Helper()
	ev, err := New(nil).Decode("", []byte(payload))
	if err != nil {
		t.Fatalf("%v: %s", err, payload)
	}
	return ev
}

func TestDecodeErrors(t *testing.T) {
	for payload, want := range map[string]string{
		``:                       "payload: not a JSON object",
		`"text"`:                 "payload: not a JSON object",
		`{"session_id": "s"`:     "payload: not a JSON object",
		`{"session_id": "s"}`:    "hook_event_name: want the name of an event",
		`{"session_id": 7}`:      "session_id: want a string that is not empty",
		`{"hook_event_name":""}`: "session_id: want a string that is not empty",
	} {
		if _, err := New(nil).Decode("", []byte(payload)); coded.CodeOf(err) != coded.Invalid || err.Error() != want {
			t.Errorf("%s: %v, want %s", payload, err, want)
		}
	}
	if ev, err := New(nil).Decode("AfterTool", []byte(`{"session_id": "s"}`)); err != nil || ev.Kind != session.ToolFinished {
		t.Errorf("a name beside the payload: %+v, %v", ev, err)
	}
}

// An answer is streamed in parts, and the hook comes for each. Only the last one's figures count, once.
func TestPartsOfAnAnswer(t *testing.T) {
	part := func(response string) session.Event {
		return decode(t, `{"session_id":"s","hook_event_name":"AfterModel","timestamp":"2026-11-21T09:55:45.611Z",
			"llm_request":{"model":"gemini-2.5-pro","messages":[{"role":"user","content":"<session_context>\nhello"}]},"llm_response":`+response+`}`)
	}
	for response, want := range map[string]int{
		`{"candidates":[{"content":{"parts":["Rea"]},"index":0}],"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":1,"totalTokenCount":101}}`:  0,
		`{"candidates":[{"content":{"parts":["ding"]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":9}}`: 100,
		`{"candidates":[],"usageMetadata":{"promptTokenCount":100}}`:                                                                                        100,
		`{"usageMetadata":{"promptTokenCount":100}}`:                                                                                                        100,
		`{"candidates":[{"finishReason":"STOP"}]}`:                                                                                                          0,
		`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":0}}`:                                                                   0,
		`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":"x"}}`:                                                                 0,
		`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":-5}}`:                                                                  0,
		`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1e99}}`:                                                                0,
		`null`: 0,
	} {
		ev, got := part(response), 0
		for _, rep := range ev.Reports {
			got = rep.Tokens
		}
		if got != want || ev.Kind != session.UsageReported || ev.AgentID != "" {
			t.Errorf("%s: %d tokens, want %d; %+v", response, got, want, ev)
		}
	}
}

// The host does not say which agent a request is of. The main chain's begins with the context of the session.
func TestWhoseRequest(t *testing.T) {
	whose := func(messages string) string {
		return decode(t, `{"session_id":"s","hook_event_name":"AfterModel","llm_request":{"model":"m","messages":`+messages+`}}`).AgentID
	}
	for messages, main := range map[string]bool{
		`[{"role":"user","content":"<session_context>\nThis is the Gemini CLI."},{"role":"user","content":"look"}]`: true,
		`[{"role":"user","content":"\n<session_context>\nThis is the Gemini CLI."}]`:                                true,
		`[{"role":"user","content":"Look around."},{"role":"user","content":"<session_context>"}]`:                  false,
		`[{"role":"user","content":"<state_snapshot>of a sub-agent</state_snapshot>"}]`:                             false,
		`[]`:   true,
		`null`: true,
	} {
		if id := whose(messages); (id == "") != main {
			t.Errorf("%s: agent %q", messages, id)
		}
	}
	one, again, other := whose(`[{"content":"a"}]`), whose(`[{"content":"a"},{"content":"b"}]`), whose(`[{"content":"b"}]`)
	if one != again || one == other {
		t.Errorf("agents %q, %q and %q", one, again, other)
	}
	ev := decode(t, string(hosttest.ReadFile(t, "testdata/payloads/AfterModel.json")))
	if ev.Model == "" {
		t.Error("the main chain's model is missing")
	}
	sub := decode(t, `{"session_id":"s","hook_event_name":"AfterModel","llm_request":{"model":"gemini-2.5-flash","messages":[{"content":"a"}]}}`)
	if sub.Model != "" {
		t.Errorf("a sub-agent's model is the session's: %q", sub.Model)
	}
}

func TestPrompts(t *testing.T) {
	for prompt, want := range map[string]string{
		"hello": "hello",
		"<hook_context>marks</hook_context>\n\nhello":                                     "hello",
		"<hook_context>a</hook_context>\n\n<hook_context>b</hook_context>\n\nhello":       "hello",
		"<hook_context>never closed":                                                      "<hook_context>never closed",
		"see @a.go\n--- Content from referenced files ---\nContent from @a.go:\nb/c/d.go": "see @a.go\n",
	} {
		text, err := json.Marshal(prompt)
		if err != nil {
			t.Fatal(err)
		}
		ev := decode(t, `{"session_id":"s","hook_event_name":"BeforeAgent","prompt":`+string(text)+`}`)
		if ev.Prompt != want {
			t.Errorf("%q: %q, want %q", prompt, ev.Prompt, want)
		}
	}
}

// What each tool works on. Patterns are no paths, and neither is what a tool of somebody else's calls one.
func TestToolPaths(t *testing.T) {
	const cwd = "/p"
	for _, tt := range []struct {
		tool, input string
		want        []session.PathUse
	}{
		{"read_file", `{"file_path":"/p/a.go","start_line":1}`, []session.PathUse{{Path: "/p/a.go", Use: session.Read}}},
		{"read_file", `{"file_path":"src/a.go"}`, []session.PathUse{{Path: "/p/src/a.go", Use: session.Read}}},
		{"write_file", `{"file_path":"a.go","content":"x"}`, []session.PathUse{{Path: "/p/a.go", Use: session.Edited}}},
		{"replace", `{"file_path":"a.go","old_string":"x","new_string":"y"}`, []session.PathUse{{Path: "/p/a.go", Use: session.Edited}}},
		{"read_many_files", `{"include":["a.go","src/**/*.go","/q/b.go"]}`, []session.PathUse{{Path: "/p/a.go", Use: session.Read}, {Path: "/q/b.go", Use: session.Read}}},
		{"glob", `{"pattern":"**/*.go","dir_path":"src"}`, []session.PathUse{{Path: "/p/src", Use: session.Mentioned}}},
		{"glob", `{"pattern":"go.mod"}`, []session.PathUse{{Path: "/p/go.mod", Use: session.Mentioned}}},
		{"grep_search", `{"pattern":"main.go","dir_path":"/p/cmd","include_pattern":"*.go"}`, []session.PathUse{{Path: "/p/cmd", Use: session.Mentioned}}},
		{"search_file_content", `{"pattern":"x","path":"cmd"}`, []session.PathUse{{Path: "/p/cmd", Use: session.Mentioned}}},
		{"list_directory", `{"dir_path":"/p"}`, nil},
		{"run_shell_command", `{"command":"cat a.go | head"}`, []session.PathUse{{Path: "/p/a.go", Use: session.Mentioned}}},
		{"run_shell_command", `{"command":"cat a.go","dir_path":"src"}`, []session.PathUse{{Path: "/p/src/a.go", Use: session.Mentioned}}},
		{"run_shell_command", `{"command":"cat '$x'"}`, nil},
		{"mcp_db_query", `{"path":"users.name","file_path":"/p/x.sql"}`, []session.PathUse{{Path: "/p/x.sql", Use: session.Mentioned}}},
		{"read_file", `{"file_path":"/` + strings.Repeat("x", 5000) + `"}`, nil},
		{"read_file", `{"file_path":["/p/a.go"]}`, nil},
		{"read_file", `[]`, nil},
	} {
		if diff := cmp.Diff(tt.want, toolPaths(tt.tool, []byte(tt.input), cwd)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.tool, tt.input, diff)
		}
	}
}

// A tool's result is a text, a part of a message or several; an error is what the model reads instead.
func TestResults(t *testing.T) {
	after := func(response string) session.Event {
		return decode(t, `{"session_id":"s","hook_event_name":"AfterTool","tool_name":"read_file","tool_input":{"file_path":"/p/a"},"tool_response":`+response+`}`)
	}
	text := func(s string) session.Piece {
		return session.Piece{Class: session.ToolResult, Tool: "read_file", Text: s}
	}
	for response, want := range map[string][]session.Piece{
		`{"llmContent":"hello"}`:                             {text("hello")},
		`{"llmContent":{"text":"hello"}}`:                    {text("hello")},
		`{"llmContent":["a",{"text":"b"}]}`:                  {text("a"), text("b")},
		`{"llmContent":{"inlineData":{"data":"aGk="}}}`:      {{Class: session.Image}},
		`{"llmContent":[{"fileData":{"fileUri":"gs://x"}}]}`: {{Class: session.Image}},
		`{"llmContent":""}`:                                  nil,
		`{"llmContent":"a","error":{"message":"broken"}}`:    {text("broken")},
		`{"llmContent":"a","error":{}}`:                      {text("a")},
		`{"error":null,"llmContent":"a"}`:                    {text("a")},
		`null`:                                               nil,
	} {
		ev := after(response)
		if diff := cmp.Diff(want, ev.Content); diff != "" {
			t.Errorf("%s (-want +got):\n%s", response, diff)
		}
		failed := strings.Contains(response, `"error":{`)
		if failed != (len(ev.Paths) == 0) || failed != (ev.Accepts == nil) {
			t.Errorf("%s: paths %v, accepts %v", response, ev.Paths, ev.Accepts)
		}
	}
	ev := decode(t, `{"session_id":"s","hook_event_name":"AfterTool","tool_name":"invoke_agent","tool_input":{"agent_name":"x"},"tool_response":{"llmContent":"found"}}`)
	if ev.Kind != session.AgentFinished || ev.AgentID != "" {
		t.Errorf("the end of a sub-agent: %+v", ev)
	}
}

func TestEncode(t *testing.T) {
	for _, tt := range []struct {
		event   string
		effects []session.Effect
		want    string
	}{
		{"BeforeAgent", []session.Effect{{Kind: session.Inject, Text: "[context used: 72%]"}},
			`{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"[context used: 72%]"}}` + "\n"},
		{"AfterTool", []session.Effect{{Kind: session.Inject, Text: "a\u001b[2J\u2028b"}, {Kind: session.Inject, Text: "c\nd"}},
			`{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"a [2J b\n\nc\nd"}}` + "\n"},
		{"AfterTool", []session.Effect{{Kind: session.CompactionContext, Lines: []string{"x"}}}, ""},
		{"AfterModel", []session.Effect{{Kind: session.Inject, Text: "x"}}, ""},
		{"BeforeTool", []session.Effect{{Kind: session.Inject, Text: "x"}}, ""},
		{"SessionStart", []session.Effect{{Kind: session.Inject, Text: "x"}}, ""},
		{"BeforeAgent", nil, ""},
		{"BeforeAgent", []session.Effect{{Kind: session.Inject, Text: " \n"}}, ""},
	} {
		out, err := New(nil).Encode(session.Event{Name: tt.event}, tt.effects)
		if err != nil || string(out) != tt.want {
			t.Errorf("%s %v: %v\n got %s\nwant %s", tt.event, tt.effects, err, out, tt.want)
		}
	}
	out, err := New(nil).Encode(session.Event{Name: "AfterTool"}, []session.Effect{{Kind: session.Inject, Text: strings.Repeat("ä", 2*session.MaxInjectedChars)}})
	if err != nil || strings.Count(string(out), "ä") != session.MaxInjectedChars {
		t.Errorf("%v: %d characters", err, strings.Count(string(out), "ä"))
	}
}

// No payload, however odd, does more than fail with a code, and whatever there is to say in return, the host is handed nothing or
// JSON that names its event.
func FuzzDecode(f *testing.F) {
	for _, file := range hosttest.Glob(f, "testdata/payloads/*.json") {
		f.Add(hosttest.ReadFile(f, file), "[context used: 72%]\x1b]0;x\a\u202e\u2028")
	}
	f.Fuzz(func(t *testing.T, payload []byte, text string) {
		ev, err := New(nil).Decode("", payload)
		if !hosttest.Decoded(t, Name, ev, err) {
			return
		}
		out, err := New(nil).Encode(ev, hosttest.Effects(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(out) == 0 {
			return
		}
		if accepts(ev.Name) == nil {
			t.Fatalf("%s takes nothing, but is answered %q", ev.Name, out)
		}
		hosttest.Said(t, hosttest.Context(t, ev.Name, out), session.MaxInjectedChars, func(rune) int { return 1 })
	})
}

// Whatever lies in a transcript.
func FuzzRead(f *testing.F) {
	for _, piece := range hosttest.Excerpts(f, "testdata/transcripts/*.jsonl") {
		f.Add(piece, len(piece)/2)
	}
	f.Add([]byte("\x00\r\n{}\n[]\nhalf"), 1)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte, first int) {
		hosttest.Reads(t, New(nil), filepath.Join(dir, fmt.Sprint("session-", os.Getpid(), ".jsonl")), content, first)
	})
}

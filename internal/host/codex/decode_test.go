package codex

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/hosttest"
)

func TestDecodeRefusesWhatIsNoPayload(t *testing.T) {
	for payload, want := range map[string]string{
		"":                           "not a JSON object",
		"[1]":                        "not a JSON object",
		`{"session_id":"s"`:          "not a JSON object",
		`{"hook_event_name":"Stop"}`: "session_id: want",
		`{"session_id":7,"hook_event_name":"Stop"}`: "session_id: want",
		`{"session_id":"s"}`:                        "hook_event_name: want",
		strings.Repeat(" ", core.MaxPayload+1):      "want at most",
	} {
		if _, err := New(nil).Decode("", []byte(payload)); err == nil || !strings.Contains(err.Error(), want) || coded.CodeOf(err) != coded.Invalid {
			t.Errorf("%.60q: %v, want %q", payload, err, want)
		}
	}
}

func TestDecodeUnknownEvents(t *testing.T) {
	for name, want := range map[string]session.Kind{"PermissionRequest": session.Seen, "NewInSomeVersion": session.Seen, "Interrupt": session.TurnFailed} {
		ev, err := New(nil).Decode("", []byte(`{"session_id":"s","hook_event_name":"`+name+`","transcript_path":null,"cwd":false}`))
		if err != nil || ev.Kind != want || ev.Accepts != nil || ev.Transcript != "" || ev.CWD != "" {
			t.Errorf("%s: %+v, %v", name, ev, err)
		}
	}
	if ev, err := New(nil).Decode("Stop", []byte(`{"session_id":"s"}`)); err != nil || ev.Kind != session.TurnFinished {
		t.Errorf("named by the caller: %+v, %v", ev, err)
	}
}

func TestToolPaths(t *testing.T) {
	tests := []struct{ tool, input, want string }{
		{"apply_patch", `{"command":"*** Begin Patch\n*** Update File: a.go\n@@\n-*** Add File: no.go\n+x\n*** Delete File: gone.go\n*** Add File: sub/b.go\n+y\n*** End Patch"}`, "/w/a.go=edited /w/sub/b.go=edited"},
		{"apply_patch", `{"command":"*** Begin Patch\r\n*** Update File: a.go\r\n*** Move to: c.go\r\n*** End Patch\r\n"}`, "/w/c.go=edited"},
		{"apply_patch", `{"command":"*** Move to: c.go"}`, "/w/c.go=edited"},
		{"apply_patch", `{"command":["no"]}`, ""},
		{"Bash", `{"command":"cat src/main.go && ls"}`, "/w/src/main.go=mentioned"},
		{"Bash", `{"command":"apply_patch <<'EOF'\n*** Begin Patch\nEOF"}`, ""},
		{"view_image", `{"path":"pic.png"}`, "/w/pic.png=read"},
		{"mcp__fs__read", `{"path":"/etc/hosts","file_path":"relative"}`, "/etc/hosts=mentioned"},
		{"mcp__fs__read", `{"path":"` + strings.Repeat("/x", 4096) + `"}`, ""},
		{"spawn_agent", `{"message":"look at /etc/hosts"}`, ""},
		{"view_image", `"pic.png"`, ""},
	}
	for _, test := range tests {
		if got := named(toolPaths(test.tool, []byte(test.input), "/w")); got != test.want {
			t.Errorf("%s %.60s: got %q, want %q", test.tool, test.input, got, test.want)
		}
	}
}

func TestItemPaths(t *testing.T) {
	tests := []struct{ item, want string }{
		{`{"type":"CommandExecution","cwd":"file:///w/a%20b","status":"completed","parsed_cmd":[{"type":"read","path":"x.go"},{"type":"search","path":"src"},{"type":"search","path":null},{"type":"list_files","path":"/w"},{"type":"unknown","cmd":"make"}]}`,
			"/w/a b/x.go=read /w/a b/src=mentioned /w=mentioned"},
		{`{"type":"CommandExecution","cwd":"/w","status":"failed","parsed_cmd":[{"type":"read","path":"no.go"}]}`, "/w/no.go=mentioned"},
		{`{"type":"CommandExecution","cwd":"file://%zz","parsed_cmd":[{"type":"read","path":"x.go"}]}`, "x.go=read"},
		{`{"type":"FileChange","status":"completed","changes":{"/w/a\"b.go":{"type":"add"},"/w/old.go":{"type":"update","move_path":"/w/new.go"},"/w/gone.go":{"type":"delete"}}}`,
			`/w/a"b.go=edited /w/new.go=edited /w/gone.go=mentioned`},
		{`{"type":"FileChange","status":"declined","changes":{"/w/a.go":{"type":"update"}}}`, ""},
		{`{"type":"ImageView","path":"file:///C:/pics/a.png"}`, `C:\pics\a.png=read`},
		{`{"type":"ImageView","path":"file://server/share/a.png"}`, `\\server\share\a.png=read`}, // its server was dropped once
		{`{"type":"McpToolCall","arguments":{"path":"/w/a.go","file_path":"/w/b.go"},"status":"completed"}`, "/w/a.go=mentioned /w/b.go=mentioned"},
		{`{"type":"UserMessage","path":"/w/a.go"}`, ""},
		{`[]`, ""},
	}
	for _, test := range tests {
		if got := named(itemPaths([]byte(test.item))); got != test.want {
			t.Errorf("%.80s: got %q, want %q", test.item, got, test.want)
		}
	}
}

func named(paths []session.PathUse) string {
	names := map[session.Use]string{session.Mentioned: "mentioned", session.Read: "read", session.Edited: "edited"}
	var parts []string
	for _, p := range paths {
		parts = append(parts, p.Path+"="+names[p.Use])
	}
	return strings.Join(parts, " ")
}

func TestContent(t *testing.T) {
	tests := []struct {
		item string
		want []session.Piece
	}{
		{`{"type":"message","role":"user","content":[{"type":"input_text","text":"do it"},{"type":"input_image","image_url":"data:"}]}`,
			[]session.Piece{{Class: session.PromptText, Text: "do it"}, {Class: session.Image}}},
		{`{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n</environment_context>"}]}`,
			[]session.Piece{{Class: session.InjectedText, Text: "<environment_context>\n</environment_context>"}}},
		{`{"type":"message","role":"developer","content":[{"type":"input_text","text":"be brief"}]}`, []session.Piece{{Class: session.InjectedText, Text: "be brief"}}},
		{`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`, []session.Piece{{Class: session.AnswerText, Text: "done"}}},
		{`{"type":"reasoning","summary":[],"encrypted_content":"abcd"}`, []session.Piece{{Class: session.Thought, Bytes: 4}}},
		{`{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"1"}`, []session.Piece{{Class: session.ToolCall, Tool: "exec_command", CallID: "1", Text: "{}"}}},
		{`{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin","call_id":"2"}`, []session.Piece{{Class: session.ToolCall, Tool: "apply_patch", CallID: "2", Text: "*** Begin"}}},
		{`{"type":"function_call_output","call_id":"1","output":"text"}`, []session.Piece{{Class: session.ToolResult, CallID: "1", Text: "text"}}},
		{`{"type":"function_call_output","call_id":"1","output":{"content":"older"}}`, []session.Piece{{Class: session.ToolResult, CallID: "1", Text: "older"}}},
		{`{"type":"custom_tool_call_output","call_id":"1","output":[{"type":"input_text","text":"a"},{"type":"input_image"},{"type":"input_text","text":"b"}]}`,
			[]session.Piece{{Class: session.ToolResult, CallID: "1", Text: "ab"}, {Class: session.Image}}},
		{`{"type":"web_search_call"}`, nil},
		{`null`, nil},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, item([]byte(test.item))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.item, diff)
		}
	}
}

// No payload, however odd, does more than fail with a code, and whatever there is to say in return, the host is handed nothing or
// JSON that names its event, no longer than what it passes on whole.
func FuzzDecode(f *testing.F) {
	for _, file := range hosttest.Glob(f, "testdata/payloads/*.json") {
		f.Add(hosttest.ReadFile(f, file), "[context used: 72%]\x1b]0;x\a\u202e\u2028")
	}
	f.Fuzz(func(t *testing.T, payload []byte, text string) {
		ev, err := New(nil).Decode("", payload)
		if !hosttest.Decoded(t, Name, ev, err) {
			return
		}
		if ev.AgentID != "" && ev.Name != "SubagentStop" && ev.Transcript != "" {
			t.Error("a sub-agent's event leads to the main chain's rollout")
		}
		out, err := New(nil).Encode(ev, hosttest.Effects(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(out) == 0 {
			return
		}
		if !speaks[ev.Name] {
			t.Fatalf("%s takes nothing, but is answered %q", ev.Name, out)
		}
		hosttest.Said(t, hosttest.Context(t, ev.Name, out), maxContext, utf8.RuneLen)
	})
}

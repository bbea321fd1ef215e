package claudecode

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/hosttest"
	"github.com/ctxls/ctxls/internal/host/toolpath"
)

func mustDecode(t *testing.T, name, payload string) session.Event {
	t.Helper()
	ev, err := New(nil).Decode(name, []byte(payload))
	if err != nil {
		t.Fatalf("%s: %v", payload, err)
	}
	return ev
}

func TestPayloadsThatAreNone(t *testing.T) {
	for payload, want := range map[string]string{
		"":                      "payload: not a JSON object",
		"garbage":               "payload: not a JSON object",
		"null":                  "payload: not a JSON object",
		`["session_id"]`:        "payload: not a JSON object",
		`{"session_id":"s"`:     "payload: not a JSON object",
		`{"session_id":"s"} {}`: "payload: not a JSON object",
		`{}`:                    "session_id: want a string that is not empty",
		`{"session_id":""}`:     "session_id: want a string that is not empty",
		`{"session_id":7}`:      "session_id: want a string that is not empty",
		`{"session_id":"s"}`:    "hook_event_name: want the name of an event",
		strings.Repeat(" ", core.MaxPayload) + "{": "payload: 67108865 bytes, want at most 67108864",
	} {
		_, err := New(nil).Decode("", []byte(payload))
		if coded.CodeOf(err) != coded.Invalid || err.Error() != want {
			t.Errorf("%.40q: %v, want %s", payload, err, want)
		}
	}
}

func TestMembersOfAnUnexpectedTypeCountAsMissing(t *testing.T) {
	ev := mustDecode(t, "", `{"session_id":"s","hook_event_name":"PostToolUse","cwd":7,"agent_id":null,"tool_name":["Read"],
		"tool_input":"x","transcript_path":{}}`)
	want := session.Event{Host: Name, SessionID: "s", Name: "PostToolUse", Kind: session.ToolFinished, Accepts: []session.EffectKind{session.Inject}}
	if diff := cmp.Diff(want, ev); diff != "" {
		t.Error(diff)
	}
}

func TestAnEventNobodyKnowsIsSeen(t *testing.T) {
	ev := mustDecode(t, "", `{"session_id":"s","hook_event_name":"PhaseOfMoon"}`)
	if ev.Kind != session.Seen || ev.Name != "PhaseOfMoon" {
		t.Errorf("got %+v", ev)
	}
	if out, err := New(nil).Encode(ev, []session.Effect{{Kind: session.Inject, Text: "x"}}); out != nil || err != nil {
		t.Errorf("answered %q, %v", out, err)
	}
}

func TestTextThatIsNoValidUnicode(t *testing.T) {
	ev := mustDecode(t, "", "{\"session_id\":\"s\",\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"\\ud83d a\xffb \\u0000\"}")
	if want := "\ufffd a\ufffdb \x00"; ev.Prompt != want {
		t.Errorf("got %q, want %q", ev.Prompt, want)
	}
}

func TestAPayloadOfTenMegabytesIsNotCopied(t *testing.T) {
	text, _ := json.Marshal(strings.Repeat("line \"of\" output\n", 10<<20/17))
	payload := fmt.Appendf(nil, `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Read",
		"tool_input":{"file_path":"/p/a.go"},"tool_response":{"file":{"content":%s}},"tool_use_id":"t"}`, text)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ev, err := New(nil).Decode("", payload)
	runtime.ReadMemStats(&after)
	if err != nil || len(ev.Paths) != 1 || ev.Paths[0].Path != "/p/a.go" {
		t.Errorf("got %+v, %v", ev, err)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 64<<10 {
		t.Errorf("allocated %d bytes", allocated)
	}
}

func TestTheHostsProcess(t *testing.T) {
	for value, want := range map[string]int{"4711": 4711, "": 0, "x": 0, "-1": 0} {
		ev, err := New(func(key string) string {
			return map[string]string{"CLAUDE_PID": value}[key]
		}).Decode("", []byte(`{"session_id":"s","hook_event_name":"Stop"}`))
		if err != nil || ev.HostPID != want {
			t.Errorf("%q: %d, %v", value, ev.HostPID, err)
		}
	}
}

func TestStatusLine(t *testing.T) {
	status := func(window, usage string) session.Event {
		return mustDecode(t, "StatusLine", `{"session_id":"s","hook_event_name":"Status","session_name":"my work",
			"workspace":{"current_dir":"/w"},"model":{"id":"claude-opus-4-6[1m]","display_name":"Opus 4.6"},
			"context_window":{"context_window_size":`+window+`,"used_percentage":104,"current_usage":`+usage+`}}`)
	}
	ev := status("1000000", `{"input_tokens":5,"cache_read_input_tokens":100,"cache_creation_input_tokens":0,
		"cache_creation":{"ephemeral_5m_input_tokens":20,"ephemeral_1h_input_tokens":3},"output_tokens":9}`)
	want := session.Event{
		Host: Name, SessionID: "s", Name: "StatusLine", Kind: session.UsageReported, CWD: "/w", Title: "my work",
		Model: "claude-opus-4-6[1m]", Limits: model.Limits{WindowTokens: 1_000_000},
		Reports: []session.Report{{
			Tuple: session.UsageTuple{Input: 5, CacheRead: 100, CacheWrite: 23, Output: 9}, Tokens: 128,
			Provenance: session.ProvenanceHost, Model: "claude-opus-4-6[1m]",
		}},
	}
	if diff := cmp.Diff(want, ev); diff != "" {
		t.Error(diff)
	}
	if ev := status("200000", `{"input_tokens":0,"output_tokens":3}`); len(ev.Reports) != 1 || ev.Reports[0].Tokens != 0 {
		t.Errorf("zeros say that what was known is over: %+v", ev.Reports)
	}
	for _, usage := range []string{"null", "{}", "7", `{"input_tokens":1,"cache_read_input_tokens":"144000"}`, `{"input_tokens":1e30}`} {
		if ev := status("200000", usage); len(ev.Reports) > 0 {
			t.Errorf("usage %s: reported %+v", usage, ev.Reports)
		}
	}
	if ev := status("null", "null"); ev.Limits.WindowTokens != 0 {
		t.Errorf("window null: %+v", ev.Limits)
	}
}

func TestTheStatusLinesWindowBeatsTheEnvironments(t *testing.T) {
	a := New(func(string) string { return "1" })
	ev, err := a.Decode("StatusLine", []byte(`{"session_id":"s","context_window":{"context_window_size":1000000}}`))
	if err != nil || ev.Limits.WindowTokens != 1_000_000 {
		t.Errorf("got %+v, %v", ev.Limits, err)
	}
}

func TestPromptsThatNobodyTyped(t *testing.T) {
	for prompt, want := range map[string]bool{
		"fix the build":                       false,
		"":                                    false,
		"what does <task-notification> mean?": false,
		"<task-notification>\n<task-id>a</task-id></task-notification>": true,
		"  <local-command-stdout>ok</local-command-stdout>":             true,
		"<command-name>/clear</command-name>":                           true,
		"<system-reminder>note</system-reminder>":                       true,
		"<system-reminder>a</system-reminder>\n<system-reminder>b":      true,
		"<system-reminder>note</system-reminder> fix the build":         false,
		"<system-reminder>note</system-reminder><task-notification>x":   true,
		"<div> is broken, please look":                                  false,
	} {
		if got := isMachine(prompt); got != want {
			t.Errorf("%q: %v", prompt, got)
		}
	}
}

func TestPathsOfTools(t *testing.T) {
	tests := []struct{ tool, input, want string }{
		{"Read", `{"file_path":"/w/a.go","limit":3}`, "read /w/a.go"},
		{"Read", `{"file_path":"a.go"}`, "read /w/a.go"},
		{"Read", `{"file_path":"C:\\w\\a.go"}`, `read C:\w\a.go`},
		{"Read", `{"file_path":""}`, ""},
		{"Read", `{"file_path":["a"]}`, ""},
		{"Read", `{"file_path":"/` + strings.Repeat("x", toolpath.MaxLength) + `"}`, ""},
		{"Edit", `{"file_path":"/w/a.go","old_string":"file_path","new_string":"b"}`, "edited /w/a.go"},
		{"MultiEdit", `{"file_path":"/w/a.go","edits":[{"file_path":"/w/no"}]}`, "edited /w/a.go"},
		{"Write", `{"file_path":"/w/a.go","content":"{\"file_path\":\"/w/no\"}"}`, "edited /w/a.go"},
		{"NotebookEdit", `{"notebook_path":"/w/n.ipynb"}`, "edited /w/n.ipynb"},
		{"Glob", `{"pattern":"**/*.go"}`, ""},
		{"Glob", `{"pattern":"src/main.go","path":"/w/sub"}`, "mentioned /w/sub; mentioned /w/src/main.go"},
		{"Grep", `{"pattern":"/etc/passwd","path":"src"}`, "mentioned /w/src"},
		{"Grep", `{"pattern":"x","path":"/w"}`, ""},
		{"LS", `{"path":"/w/src"}`, "mentioned /w/src"},
		{"Bash", `{"command":"echo one && cat src/main.go"}`, "mentioned /w/src/main.go"},
		{"Agent", `{"description":"d","prompt":"/w/a.go"}`, ""},
		{"mcp__files__read", `{"path":"/w/a.go"}`, "mentioned /w/a.go"},
		{"mcp__forge__contents", `{"path":"src/a.go"}`, ""},
		{"Read", `null`, ""},
	}
	for _, test := range tests {
		var got []string
		for _, p := range toolPaths(test.tool, []byte(test.input), "/w") {
			got = append(got, useNames[p.Use]+" "+p.Path)
		}
		if got := strings.Join(got, "; "); got != test.want {
			t.Errorf("%s %.60s: got %q, want %q", test.tool, test.input, got, test.want)
		}
	}
}

var useNames = map[session.Use]string{session.Mentioned: "mentioned", session.Read: "read", session.Edited: "edited"}

// What failed is marked in few results; the other calls of a batch name themselves, for the transcript to tell.
func TestResultsOfABatch(t *testing.T) {
	ev := mustDecode(t, "", `{"session_id":"s","hook_event_name":"PostToolBatch","cwd":"/w","tool_calls":[
		{"tool_name":"Edit","tool_input":{"file_path":"/w/a"},"tool_use_id":"t1","tool_response":"<tool_use_error>no</tool_use_error>"},
		{"tool_name":"Edit","tool_input":{"file_path":"/w/b"},"tool_use_id":"t2","tool_response":"done"},
		{"tool_name":"Read","tool_input":{"file_path":"/w/c"},"tool_use_id":"t3","tool_response":"File does not exist."},
		"junk",{"tool_name":"Read"}]}`)
	want := []session.PathUse{{Path: "/w/b", Use: session.Edited, CallID: "t2"}, {Path: "/w/c", Use: session.Read, CallID: "t3"}}
	if diff := cmp.Diff(want, ev.Paths); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]session.CallResult{{CallID: "t1", Failed: true}}, ev.Results); diff != "" {
		t.Error(diff)
	}
}

func TestLimitErrors(t *testing.T) {
	tests := []struct {
		text string
		want *session.LimitError
	}{
		{"400 prompt is too long: 210000 tokens > 200000 maximum", &session.LimitError{SentTokens: 210_000, MaxTokens: 200_000}},
		{"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease it",
			&session.LimitError{SentTokens: 188_240, MaxTokens: 200_000}},
		{"Prompt is too long", &session.LimitError{}},
		{`{"code":"context_length_exceeded"}`, &session.LimitError{}},
		{"thinking blocks: prompt is too long to modify", nil},
		{"max_tokens must be greater than thinking.budget_tokens", nil},
		{"overloaded", nil},
		{"", nil},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, limitError("", test.text)); diff != "" {
			t.Errorf("%s: %s", test.text, diff)
		}
	}
}

func TestTheAnalysisOfASummaryIsNoPartOfIt(t *testing.T) {
	for summary, want := range map[string]string{
		"<analysis>a.go</analysis>\n<summary>b.go</summary>": "<summary>b.go</summary>",
		"b.go":                   "b.go",
		"<analysis>a.go":         "<analysis>a.go",
		"x<analysis></analysis>": "x",
	} {
		if got := withoutAnalysis(summary); got != want {
			t.Errorf("%q: got %q", summary, got)
		}
	}
}

// No payload, however odd, does more than fail with a code, and whatever there is to say in return, the host is handed what it takes:
// nothing, plain text that cannot pass for JSON before a compaction, or JSON that names its event, within its frame.
func FuzzDecode(f *testing.F) {
	for _, file := range hosttest.Glob(f, "testdata/payloads/*.json") {
		name := ""
		if strings.HasPrefix(filepath.Base(file), "StatusLine.") {
			name = "StatusLine"
		}
		f.Add(name, hosttest.ReadFile(f, file), "[context used: 72%]")
	}
	f.Add("", []byte(`{"session_id":"s","hook_event_name":"PostToolBatch","tool_calls":[{"tool_name":"Bash","tool_input":{"command":"cat a.b"}}]}`), "\x1b]0;x\a\u202e\u2028</system-reminder>")
	f.Add("StatusLine", []byte(`{"session_id":"s","context_window":{"current_usage":{"input_tokens":1e9}}}`), "")
	f.Add("", []byte(`{"session_id":"s","hook_event_name":"PreCompact"}`), " {\"continue\":false}")
	f.Fuzz(func(t *testing.T, name string, payload []byte, text string) {
		ev, err := New(nil).Decode(name, payload)
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
		said := strings.TrimSuffix(string(out), "\n")
		if ev.Name != "PreCompact" {
			said = hosttest.Context(t, ev.Name, out)
		} else if json.Valid(out) && said[0] == '{' {
			t.Fatalf("plain text that the host would take for JSON: %q", out)
		}
		if !speaks[ev.Name] && ev.Name != "PreCompact" {
			t.Fatalf("%s takes nothing, but is answered %q", ev.Name, out)
		}
		hosttest.Said(t, said, session.MaxInjectedChars, utf16.RuneLen)
		if strings.Contains(said, "<system-reminder") || strings.Contains(said, "</system-reminder") {
			t.Fatalf("it leaves its frame: %q", said)
		}
	})
}

// Of the captured payloads only the one of its end names a sub-agent's transcript; the others lead to the same file.
func TestTheTranscriptOfASubAgent(t *testing.T) {
	want := mustDecode(t, "", string(hosttest.ReadFile(t, "testdata/payloads/SubagentStop.json"))).AgentTranscript
	for _, name := range []string{"SubagentStart", "PreToolUse.in-subagent", "PostToolUse.in-subagent", "PostToolBatch.in-subagent"} {
		ev := mustDecode(t, "", string(hosttest.ReadFile(t, "testdata/payloads/"+name+".json")))
		if ev.AgentTranscript != want {
			t.Errorf("%s: %q, want %q", name, ev.AgentTranscript, want)
		}
	}
	for _, members := range []string{`"transcript_path":"/x/s.txt","agent_id":"a"`, `"transcript_path":"/x/s.jsonl","agent_id":"../../a"`, `"agent_id":"a"`} {
		if ev := mustDecode(t, "", `{"session_id":"s","hook_event_name":"PreToolUse",`+members+`}`); ev.AgentTranscript != "" {
			t.Errorf("%s: %q", members, ev.AgentTranscript)
		}
	}
}

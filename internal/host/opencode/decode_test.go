package opencode

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
)

func decode(t *testing.T, a *Adapter, name, payload string) session.Event {
	t.Helper()
	ev, err := a.Decode(name, []byte(payload))
	if err != nil {
		t.Fatalf("%s: %v", payload, err)
	}
	return ev
}

// A sub-agent's session is told from the events about it; from then on all of it belongs to the session at the top.
func TestSubAgents(t *testing.T) {
	a := New()
	say := func(event, id, parent string) session.Event {
		return decode(t, a, "event", fmt.Sprintf(`{"event": {"type": %q, "properties": {"info": {"id": %q, "parentID": %q, "agent": "explore", "title": "t"}}}}`, event, id, parent))
	}
	say("session.created", "child", "top")
	say("session.created", "grandchild", "child")
	for _, test := range []struct {
		ev       session.Event
		session  string
		agent    string
		kind     session.Kind
		titled   bool
		whatever string
	}{
		{say("session.created", "child", "top"), "top", "child", session.AgentStarted, false, "the child again"},
		{say("session.created", "grandchild", "child"), "top", "grandchild", session.AgentStarted, false, "the grandchild"},
		{say("session.updated", "child", "top"), "top", "child", session.Seen, false, "its title is none of the top's"},
		{say("session.created", "top", ""), "top", "", session.SessionStarted, true, "the top"},
		{decode(t, a, "chat.message", `{"input": {"sessionID": "child"}, "output": {}}`), "top", "child", session.PromptSubmitted, false, "a prompt of the child's"},
		{decode(t, a, "event", `{"event": {"type": "session.idle", "properties": {"sessionID": "grandchild"}}}`), "top", "grandchild", session.AgentFinished, false, "its end"},
		{decode(t, a, "event", `{"event": {"type": "session.idle", "properties": {"sessionID": "top"}}}`), "top", "", session.TurnFinished, false, "a turn's end"},
		{say("session.deleted", "child", "top"), "top", "child", session.SessionDeleted, false, "only the child"},
		{say("session.deleted", "top", ""), "top", "", session.SessionDeleted, true, "all of it"},
	} {
		ev := test.ev
		if ev.SessionID != test.session || ev.AgentID != test.agent || ev.Kind != test.kind || (ev.Title != "") != test.titled {
			t.Errorf("%s: %s of %q in %q, title %q", test.whatever, ev.Kind, ev.AgentID, ev.SessionID, ev.Title)
		}
		if test.agent != "" && ev.AgentType != "explore" {
			t.Errorf("%s: the agent is %q", test.whatever, ev.AgentType)
		}
	}
	for i := range 2 * maxChildren {
		say("session.created", fmt.Sprint("c", i), "top")
	}
	if n := len(a.children.known); n != maxChildren || len(a.children.order) != n {
		t.Errorf("%d children are remembered", n)
	}
}

func TestUsage(t *testing.T) {
	for name, test := range map[string]struct {
		info   string
		tokens int
		tuple  session.UsageTuple
	}{
		"total":          {`"tokens": {"total": 143989, "input": 12, "output": 77, "cache": {"read": 143000, "write": 900}}`, 143_989, session.UsageTuple{Input: 12, CacheRead: 143_000, CacheWrite: 900, Output: 77}},
		"older":          {`"tokens": {"input": 12, "output": 77, "reasoning": 5, "cache": {"read": 143000, "write": 900}}`, 143_989, session.UsageTuple{Input: 12, CacheRead: 143_000, CacheWrite: 900, Output: 77}},
		"thoughts apart": {`"tokens": {"total": 1200, "input": 1000, "output": 50, "reasoning": 150, "cache": {"read": 0, "write": 0}}`, 1200, session.UsageTuple{Input: 1000, Output: 200}},
		"nothing":        {`"tokens": {"input": 0, "output": 0, "cache": {"read": 0, "write": 0}}`, 0, session.UsageTuple{}},
		"none":           {`"cost": 1`, 0, session.UsageTuple{}},
		"a summary":      {`"summary": true, "tokens": {"total": 150077, "input": 150000, "output": 77, "cache": {}}`, 0, session.UsageTuple{}},
		"by its mode":    {`"mode": "compaction", "tokens": {"total": 150077, "input": 150000, "output": 77, "cache": {}}`, 0, session.UsageTuple{}},
	} {
		ev := decode(t, New(), "event", `{"event": {"type": "message.updated", "properties": {"sessionID": "s", "info": {"id": "m", "role": "assistant",
			"modelID": "claude-sonnet-4-5", "time": {"created": 1795253911398, "completed": 1795253911605}, `+test.info+`}}}}`)
		var want []session.Report
		if test.tokens > 0 {
			want = []session.Report{{At: time.UnixMilli(1795253911605).UTC(), Tuple: test.tuple, Tokens: test.tokens, Provenance: session.ProvenanceReported, Model: "claude-sonnet-4-5", MessageID: "m"}}
		}
		if diff := cmp.Diff(want, ev.Reports); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A summary is one only when it is complete and no error.
func TestSummary(t *testing.T) {
	for info, kind := range map[string]session.Kind{
		`"time": {"created": 1, "completed": 1795253911605}`:                               session.CompactionDone,
		`"time": {"created": 1, "completed": 1795253911605}, "error": null`:                session.CompactionDone,
		`"time": {"created": 1, "completed": 1795253911605}, "error": {"name": "Aborted"}`: session.Seen,
		`"time": {"created": 1}`: session.Seen,
	} {
		ev := decode(t, New(), "event", `{"event": {"type": "message.updated", "properties": {"sessionID": "s", "info": {"id": "m", "role": "assistant", "summary": true, `+info+`}}},
			"parts": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}`)
		if ev.Kind != kind || (kind == session.CompactionDone) != (ev.CompactedBy != nil && ev.CompactedBy.Summary == "one\ntwo") {
			t.Errorf("%s: %s, %+v", info, ev.Kind, ev.CompactedBy)
		}
	}
}

func TestToolPaths(t *testing.T) {
	const cwd = "/p"
	for _, test := range []struct{ tool, args, want string }{
		{"read", `{"filePath": "/p/a.go"}`, "2 /p/a.go"},
		{"read", `{"filePath": "a.go"}`, "2 /p/a.go"},
		{"read", `{"filePath": 7}`, ""},
		{"edit", `{"filePath": "/p/a.go", "oldString": "x"}`, "3 /p/a.go"},
		{"write", `{"filePath": "C:\\a.go"}`, `3 C:\a.go`},
		{"multiedit", `{"filePath": "/p/a.go"}`, "3 /p/a.go"},
		{"glob", `{"pattern": "**/*.go", "path": "/p/src"}`, "1 /p/src"},
		{"glob", `{"pattern": "src/main.go", "path": "/q"}`, "1 /q, 1 /q/src/main.go"},
		{"grep", `{"pattern": "src/main.go", "path": "src"}`, "1 /p/src"},
		{"grep", `{"pattern": "x", "path": "/p"}`, ""},
		{"list", `{"path": "/p/src"}`, "1 /p/src"},
		{"bash", `{"command": "cat src/a.go | head"}`, "1 /p/src/a.go"},
		{"bash", `{"command": "cat a.go", "workdir": "sub"}`, "1 /p/sub/a.go"},
		{"bash", `{"command": "make test"}`, ""},
		{"apply_patch", `{"patchText": "*** Begin Patch\n*** Update File: src/a.go\n*** Move to: src/b.go\n@@\n-*** Add File: no\n+y\n*** Add File: /q/c.go\n+z\n*** Delete File: d.go\n*** End Patch"}`,
			"3 /p/src/a.go, 3 /p/src/b.go, 3 /q/c.go, 3 /p/d.go"},
		{"task", `{"prompt": "read /p/a.go"}`, ""},
		{"theirs_thing", `{"path": "/p/x.go", "filePath": "relative.go"}`, "1 /p/x.go"},
		{"read", `{"filePath": "` + strings.Repeat("a", 5000) + `"}`, ""},
	} {
		var got []string
		for _, use := range toolPaths(test.tool, []byte(test.args), cwd) {
			got = append(got, fmt.Sprint(int(use.Use), " ", use.Path))
		}
		if got := strings.Join(got, ", "); got != test.want {
			t.Errorf("%s %.60s: got %q, want %q", test.tool, test.args, got, test.want)
		}
	}
}

func TestParams(t *testing.T) {
	const request = `{"input": {"sessionID": "s", "agent": "build", "message": {"model": {"providerID": "p", "modelID": "m"}}, "provider": {"source": %q},
		"model": {"id": %q, "providerID": %q, "api": {"npm": %q}, "limit": %s}}, "output": {"maxOutputTokens": 5}, "compaction": %s}`
	for name, test := range map[string]struct {
		source, model, provider, npm, limit, settings string
		limits                                        model.Limits
		by                                            string
	}{
		"the window":         {"env", "m", "anthropic", "@ai-sdk/anthropic", `{"context": 200000, "output": 32000}`, "null", model.Limits{WindowTokens: 200_000, OutputTokens: 32_000}, "anthropic"},
		"a limit on input":   {"env", "m", "openai", "@ai-sdk/openai", `{"context": 400000, "input": 272000, "output": 128000}`, "{}", model.Limits{WindowTokens: 400_000, InputTokens: 272_000, OutputTokens: 128_000}, "openai"},
		"settings":           {"env", "m", "openai", "@ai-sdk/openai", `{"context": 400000}`, `{"auto": false, "reserved": 10000}`, model.Limits{WindowTokens: 400_000, OutputTokens: 5}, "openai"},
		"a gateway":          {"config", "m", "company", "@ai-sdk/anthropic", `{"context": 9}`, "null", model.Limits{WindowTokens: 9, OutputTokens: 5}, "anthropic"},
		"known by itself":    {"env", "m", "kimi", "@ai-sdk/anthropic", `{"context": 9}`, "null", model.Limits{WindowTokens: 9, OutputTokens: 5}, "kimi"},
		"named in settings":  {"config", "m", "openai", "@ai-sdk/anthropic", `{"context": 9}`, "null", model.Limits{WindowTokens: 9, OutputTokens: 5}, "openai"},
		"for a title":        {"env", "small", "anthropic", "@ai-sdk/anthropic", `{"context": 9}`, "null", model.Limits{}, ""},
		"nothing that helps": {"env", "m", "", "", `7`, `[]`, model.Limits{OutputTokens: 5}, ""},
	} {
		ev := decode(t, New(), "chat.params", fmt.Sprintf(request, test.source, test.model, test.provider, test.npm, test.limit, test.settings))
		if ev.Limits != test.limits || ev.Provider != test.by || ev.Kind != session.Seen {
			t.Errorf("%s: %s, %+v by %q", name, ev.Kind, ev.Limits, ev.Provider)
		}
	}
}

func TestContent(t *testing.T) {
	ev := decode(t, New(), "chat.message", `{"input": {"sessionID": "s"}, "output": {"parts": [
		{"type": "text", "text": "look at @a.go"}, {"type": "text", "text": "the file", "synthetic": true}, {"type": "text", "text": "for people", "ignored": true},
		{"type": "file", "mime": "image/png", "url": "data:"}, {"type": "file", "mime": "text/plain"}, {"type": "agent"}]}}`)
	want := []session.Piece{{Class: session.PromptText, Text: "look at @a.go"}, {Class: session.InjectedText, Text: "the file"}, {Class: session.Image}}
	if diff := cmp.Diff(want, ev.Content); diff != "" || ev.Prompt != "look at @a.go" || ev.Machine {
		t.Errorf("a prompt: %q, %v (-want +got):\n%s", ev.Prompt, ev.Machine, diff)
	}
	if ev := decode(t, New(), "chat.message", `{"input": {"sessionID": "s"}, "output": {"parts": [{"type": "text", "text": "Go on.", "synthetic": true}]}}`); !ev.Machine {
		t.Error("the host's own prompt counts as a person's")
	}
	ev = decode(t, New(), "message.updated", `{"event": {"type": "message.updated", "properties": {"info": {"id": "m", "sessionID": "s", "role": "assistant", "modelID": "x",
		"path": {"cwd": "/w"}, "time": {"completed": 1795253911605}, "tokens": {"input": 5, "output": 1}}}}, "parts": [
		{"type": "step-start"}, {"type": "reasoning", "text": "hm", "metadata": {"anthropic": {"signature": "abcd"}}}, {"type": "text", "text": "Reading."},
		{"type": "tool", "tool": "read", "callID": "1", "state": {"status": "completed", "input": {"a":1}, "output": "text", "attachments": [{"type": "file", "mime": "image/png"}]}},
		{"type": "tool", "tool": "grep", "callID": "2", "state": {"status": "error", "input": {}, "error": "failed"}}]}`)
	want = []session.Piece{
		{Class: session.Thought, Bytes: 4}, {Class: session.AnswerText, Text: "Reading."},
		{Class: session.ToolCall, Tool: "read", CallID: "1", Text: `{"a":1}`}, {Class: session.ToolResult, Tool: "read", CallID: "1", Text: "text"}, {Class: session.Image},
		{Class: session.ToolCall, Tool: "grep", CallID: "2", Text: `{}`}, {Class: session.ToolResult, Tool: "grep", CallID: "2", Text: "failed"},
	}
	if diff := cmp.Diff(want, ev.Content); diff != "" || ev.CWD != "/w" {
		t.Errorf("an answer in %q (-want +got):\n%s", ev.CWD, diff)
	}
}

func TestHistory(t *testing.T) {
	ev := decode(t, New(), "experimental.chat.messages.transform", `{"input": {}, "directory": "/p", "output": {"messages": [
		{"info": {"id": "1", "role": "user", "sessionID": "s"}, "parts": [{"type": "text", "text": "hi"}]},
		{"info": {"id": "2", "role": "assistant", "sessionID": "s", "summary": true, "time": {"created": 1000, "completed": 2000}, "tokens": {"total": 150000}}, "parts": []},
		{"info": {"id": "3", "role": "assistant", "sessionID": "s", "time": {"created": 3000, "completed": 4000}, "tokens": {"total": 60000, "input": 60000}},
		 "parts": [{"type": "tool", "tool": "read", "state": {"status": "completed", "input": {"filePath": "a.go"}}}, {"type": "tool", "tool": "read", "state": {"status": "error", "input": {"filePath": "b.go"}}}]},
		{"info": {"id": "4", "role": "assistant", "sessionID": "s", "time": {"created": 5000}, "tokens": {"input": 0}}, "parts": []}]}}`)
	want := []session.PathUse{{Path: "/p/a.go", Use: session.Read, At: time.UnixMilli(3000).UTC()}}
	if diff := cmp.Diff(want, ev.Paths); diff != "" || ev.Kind != session.HistorySeen || len(ev.Reports) != 1 || ev.Reports[0].Tokens != 60_000 || ev.Reports[0].MessageID != "3" {
		t.Errorf("%s, %+v (-want +got):\n%s", ev.Kind, ev.Reports, diff)
	}
}

func TestWhatIsNoPayload(t *testing.T) {
	for name, payload := range map[string]string{
		"":                     `{"input": {"sessionID": "s"}}`,
		"chat.message":         `{"input": {}}`,
		"event":                `{"event": {"type": "file.edited", "properties": {"file": "/x"}}}`,
		"tool.execute.after":   `[]`,
		"tool.execute.before":  ``,
		"experimental.unknown": `{"input": null}`,
	} {
		if ev, err := New().Decode(name, []byte(payload)); coded.CodeOf(err) != coded.Invalid {
			t.Errorf("%q %s: %+v, %v", name, payload, ev, err)
		}
	}
	if _, err := New().Decode("event", make([]byte, core.MaxPayload+1)); coded.CodeOf(err) != coded.Invalid {
		t.Error("a payload beyond all bounds is taken:", err)
	}
	late := decode(t, New(), toolAfter, `{"input": {"sessionID": "s"}, "late": true}`)
	if late.Accepts != nil {
		t.Error("nobody listens, but something can be said:", late.Accepts)
	}
}

func TestEncode(t *testing.T) {
	inject, context := session.Effect{Kind: session.Inject, Text: "[context used: 72%]"}, session.Effect{Kind: session.CompactionContext, Lines: []string{"a", "  - <b>\x1b[31m\u202e"}}
	for _, test := range []struct {
		name    string
		effects []session.Effect
		want    string
	}{
		{chatMessage, []session.Effect{inject, {Kind: session.Inject, Text: "more"}}, `{"parts":[{"type":"text","text":"[context used: 72%]","synthetic":true},{"type":"text","text":"more","synthetic":true}]}` + "\n"},
		{toolAfter, []session.Effect{{Kind: session.AppendToolOutput, Text: "said"}}, `{"output":"\n\nsaid"}` + "\n"},
		{compacting, []session.Effect{context}, `{"context":["a\n  - <b> [31m"]}` + "\n"},
		{"session.idle", []session.Effect{inject}, ""},
		{chatMessage, nil, ""},
	} {
		got, err := New().Encode(session.Event{Name: test.name}, test.effects)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

func TestInstall(t *testing.T) {
	const file = "/h/.config/opencode/plugin/ctxls.js"
	text, done, err := Host.Installer.Install(file, nil, `/opt/it's "here"/ctxls`, false)
	if err != nil || len(done) != 1 || !strings.Contains(string(text), "\n"+`const INSTALLED = "/opt/it's \"here\"/ctxls" // `) {
		t.Fatalf("%q %v\n%s", done, err, text)
	}
	if again, done, err := Host.Installer.Install(file, text, `/opt/it's "here"/ctxls`, false); err != nil || done != nil || string(again) != string(text) {
		t.Errorf("installed twice: %q %v", done, err)
	}
	if moved, done, err := Host.Installer.Install(file, text, "/usr/bin/ctxls", false); err != nil || len(done) != 1 || !strings.Contains(string(moved), `"/usr/bin/ctxls"`) {
		t.Errorf("another program: %q %v", done, err)
	}
	if after, done, err := Host.Installer.Uninstall(file, text, nil); err != nil || after != nil || len(done) != 1 {
		t.Errorf("removed: %q %q %v", after, done, err)
	}
	for _, foreign := range []string{"export const Mine = async () => ({})\n", ""} {
		if _, _, err := Host.Installer.Install(file, []byte(foreign), "/usr/bin/ctxls", false); coded.CodeOf(err) != coded.Invalid || !strings.HasPrefix(err.Error(), file) {
			t.Errorf("over somebody else's: %v", err)
		}
		if after, done, err := Host.Installer.Uninstall(file, []byte(foreign), nil); err != nil || done != nil || string(after) != foreign {
			t.Errorf("somebody else's is removed: %q %v", done, err)
		}
	}
}

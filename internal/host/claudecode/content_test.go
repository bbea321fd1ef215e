package claudecode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core/session"
)

// What each kind of line adds to the conversation, and what is on file but never sent.
func TestContent(t *testing.T) {
	user := func(content string, more ...string) string {
		return `{"isSidechain":false,"type":"user","message":{"role":"user","content":` + content + `},"uuid":"u"` + strings.Join(more, "") + `}`
	}
	attached := func(attachment, rendered string) string {
		return `{"isSidechain":false,"attachment":` + attachment + `,"type":"attachment"` + rendered + `}`
	}
	tests := []struct {
		name, line string
		want       []string
	}{
		{"a prompt", user(`"hello"`), []string{"prompt hello"}},
		{"a prompt in blocks, with an image", user(`[{"type":"text","text":"see"},{"type":"image","source":{"data":"AAAA"}}]`), []string{"prompt see", "image"}},
		{"what the host says in the user's name", user(`"Caveat: x"`, `,"isMeta":true`), []string{"injected Caveat: x"}},
		{"a tool's result, without the copy that the host keeps", user(`[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]`, `,"toolUseResult":{"stdout":"ok","content":"twice"}`),
			[]string{"result ok of t1"}},
		{"a result in blocks", user(`[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"text","text":"b"}]}]`),
			[]string{"result ab of t1", "image"}},
		{"an empty result", user(`[{"type":"tool_result","tool_use_id":"t1"}]`), []string{"result  of t1"}},
		{"results and a prompt in one line", user(`[{"tool_use_id":"t1","type":"tool_result","content":"[Request interrupted]"},{"type":"text","text":"stop"}]`),
			[]string{"result [Request interrupted] of t1", "prompt stop"}},
		{"the text that replaced the conversation", summary, nil},
		{"an attachment as it was rendered", attached(`{"type":"file","content":{"file":{"content":"long"}}}`, `,"rendered":[{"content":"<r>one</r>"},{"content":[{"type":"text","text":"two"}]}]`),
			[]string{"injected <r>one</r>", "injected two"}},
		{"an attachment of a host that does not write that down", attached(`{"type":"total_tokens_reminder","text":"9 left"}`, ""), []string{"injected 9 left"}},
		{"a file that somebody edited", attached(`{"type":"edited_text_file","filename":"/w/a.go","snippet":"1\tpackage a"}`, ""), []string{"injected 1\tpackage a and 80 tokens"}},
		{"a file that somebody edited, too long to be shown", attached(`{"type":"edited_text_file","filename":"/w/a.go","snippet":""}`, ""), []string{"injected  and 80 tokens"}},
		{"what was typed while a turn ran", attached(`{"type":"queued_command","prompt":"and the tests","commandMode":"prompt"}`, ""), []string{"injected and the tests"}},
		{"the same in blocks", attached(`{"type":"queued_command","prompt":[{"type":"text","text":"see"},{"type":"image","source":{"data":"AAAA"}}]}`, ""), []string{"injected see", "image"}},
		{"diagnostics", attached(`{"type":"diagnostics","files":[{"uri":"file:///w/a.go","diagnostics":[{"message":"undefined: x","severity":"Error","range":{"start":{"line":3}},"source":"compiler"}]}],"isNew":true}`, ""),
			[]string{"injected file:///w/a.go:\n  Error  undefined: x    compiler\n"}},
		{"what hooks said", attached(`{"type":"hook_additional_context","content":["one","two"],"hookName":"SessionStart"}`, ""), []string{"injected one", "injected two"}},
		{"memory of a directory", attached(`{"type":"nested_memory","path":"/w/x/CLAUDE.md","content":{"path":"/w/x/CLAUDE.md","type":"Project","content":"use tabs"}}`, ""), []string{"memory use tabs"}},
		{"a hook's veto", attached(`{"type":"hook_blocking_error","hookName":"Stop","blockingError":{"blockingError":"tests fail","command":"x.sh"}}`, ""), []string{"injected tests fail"}},
		{"a file that a prompt mentions", attached(`{"type":"file","filename":"/w/n.txt","content":{"type":"text","file":{"filePath":"/w/n.txt","content":"alpha"}}}`, ""), []string{"injected alpha"}},
		{"a reminder of the task list", attached(`{"type":"task_reminder","content":[],"itemCount":0}`, ""), []string{"injected  and 140 tokens"}},
		{"a reminder of tasks", attached(`{"type":"task_reminder","content":[{"id":"1","subject":"mend"}],"itemCount":1}`, ""), []string{`injected [{"id":"1","subject":"mend"}] and 140 tokens`}},
		{"a result that loads tools", user(`[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"tool_reference","tool_name":"WebFetch"}]}]`), []string{"result  of t1 and 1100 tokens"}},
		{"a hook that said nothing", attached(`{"type":"hook_success","stdout":"noise","content":""}`, ""), nil},
		{"the system prompt", attached(`{"type":"prompt_snapshot","systemPrompt":["You are"],"text":"You are"}`, `,"rendered":[{"content":"You are"}]`), nil},
		{"an answer's text", answer("m", 1, 1, "null", `{"type":"text","text":"Done."}`), []string{"answer Done."}},
		{"a call", answer("m", 1, 1, "null", call), []string{`call {"file_path":"/w/a.go"} of t1 to Read`}},
		{"a call as it was really made", answer("m", 1, 1, "null", callSed, `,"wireToolInputs":{"t2":{"command":"ls"}}`), []string{`call {"command":"ls"} of t2 to Bash`}},
		{"a plan", answer("m", 1, 1, "null", `{"type":"tool_use","id":"t3","name":"ExitPlanMode","input":{"plan":"long"}}`), []string{"call  of t3 to ExitPlanMode"}},
		{"a thought, by its signature", answer("m", 1, 1, "null", `{"type":"thinking","thinking":"a summary of it","signature":"`+strings.Repeat("x", 400)+`"}`), []string{"thought of 400 bytes"}},
		{"a thought without one", answer("m", 1, 1, "null", `{"type":"thinking","thinking":""}`), []string{"thought of 0 bytes"}},
		{"an unknown block", answer("m", 1, 1, "null", `{"type":"server_tool_use","id":"x"}`), nil},
		{"written by the host itself", synthetic, nil},
		{"an API error", apiError, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reading := readContent(t, "session.jsonl", "{}\n", test.line+"\n")
			var got []string
			for _, e := range reading.Entries {
				for _, p := range e.Content {
					got = append(got, piece(p))
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
}

func piece(p session.Piece) string {
	if p.Extra > 0 {
		extra := p.Extra
		p.Extra = 0
		return fmt.Sprintf("%s and %d tokens", piece(p), extra)
	}
	switch p.Class {
	case session.Image:
		return "image"
	case session.Thought:
		return fmt.Sprintf("thought of %d bytes", p.Bytes)
	case session.ToolCall:
		return fmt.Sprintf("call %s of %s to %s", p.Text, p.CallID, p.Tool)
	case session.ToolResult:
		return fmt.Sprintf("result %s of %s", p.Text, p.CallID)
	}
	return fmt.Sprintf("%s %s", p.Class, p.Text)
}

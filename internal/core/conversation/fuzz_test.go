package conversation

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// FuzzTrim gives arbitrary input to Measure and Trim. They must return a result or an error without a panic, and the
// figures about their own output must be right.
func FuzzTrim(f *testing.F) {
	for _, form := range dialects {
		f.Add([]byte(form.text("user", "hello")+","+form.call([]string{"a", "b"}, "{}")), 5, true)
		if form.answer != nil {
			f.Add([]byte(form.call([]string{"a"}, "{}")+","+form.answer([]string{"a"}, "a longer result than its placeholder would ever be, on and on and on")[0]), 9, true)
		}
	}
	for _, seed := range []string{
		``, `{}`, `{"role":"system","content":[{"type":"tool_result","tool_use_id":"a"}]}`, `{"role":"user","content":[{"type":"image","source":{"data":"iVBORw0KGgo"}}]}`,
		`{"info":{"role":"x"},"parts":[{"type":"tool","tool":"a","state":{"output":"o","attachments":[{"url":"data:;base64,AA"}]}}]}`,
		`{"parts":[{"functionResponse":{"name":"a","response":{"output":"[tool result cleared by ctxls: 1 tokens]"}},"functionResponse":{"name":"a","response":1}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"tool_result","tool_use_id":"b","content":"a longer result than its placeholder would ever be, on and on and on"}]}]}`,
		`{"role":"tool","content":null},{"role":"assistant","function_call":{"name":"a"}}`,
	} {
		f.Add([]byte(seed), 1, false)
	}
	meter := testMeter()
	f.Fuzz(func(t *testing.T, messages []byte, target int, clear bool) {
		c := Conversation{Messages: append(append([]byte("["), messages...), ']')}
		measured, err := meter.Measure(MeasureRequest{Conversation: c})
		if err != nil {
			if e, ok := errors.AsType[*coded.Error](err); !ok || e.Code != coded.Invalid {
				t.Fatalf("Measure: %v", err)
			}
			return
		}
		req := TrimRequest{Conversation: c, TargetTokens: new(max(1, target))}
		if clear {
			req.Strategy = "toolResults"
		}
		got, err := meter.Trim(req)
		if err != nil || got.OriginalTokens != measured.Tokens || got.Satisfied != (got.Tokens <= max(1, target)) {
			t.Fatalf("measures %d, Trim gives %+v, %v", measured.Tokens, got, err)
		}
		checkKept(t, c.Messages, got)
		req.Messages = got.Messages
		again, err := meter.Trim(req)
		if err != nil || again.OriginalTokens != got.Tokens || !bytes.Equal(again.Messages, got.Messages) {
			t.Fatalf("the output %s has %d tokens, measures %d, trims to %s, %v", got.Messages, got.Tokens, again.OriginalTokens, again.Messages, err)
		}
	})
}

// checkKept compares a trim's report with its output: all messages except the removed ones are present, in order, and
// byte for byte except for cleared results.
func checkKept(t *testing.T, before []byte, got TrimResult) {
	t.Helper()
	var messages, kept []json.RawMessage
	if err := errors.Join(json.Unmarshal(before, &messages), json.Unmarshal(got.Messages, &kept)); err != nil {
		t.Fatalf("%v: %s", err, got.Messages)
	}
	at := 0
	for i, message := range messages {
		if slices.Contains(got.Removed, i) {
			continue
		}
		if at == len(kept) || !slices.Contains(got.Cleared, i) && !bytes.Equal(message, kept[at]) {
			t.Fatalf("of %s it removed %v and cleared %v, and kept %s", before, got.Removed, got.Cleared, got.Messages)
		}
		at++
	}
	if at != len(kept) {
		t.Fatalf("of %s it removed %v, and kept %s", before, got.Removed, got.Messages)
	}
}

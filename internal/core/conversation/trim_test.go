package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/google/go-cmp/cmp"
)

func mustTrim(t *testing.T, req TrimRequest) TrimResult {
	t.Helper()
	got, err := testMeter().Trim(req)
	if err != nil {
		t.Fatalf("Trim: %v", err)
	}
	return got
}

func user(text string) string      { return `{"role":"user","content":` + quote(text) + `}` }
func assistant(text string) string { return `{"role":"assistant","content":` + quote(text) + `}` }

func TestTrimLongConversation(t *testing.T) {
	messages := []string{`{"role":"system","content":"You are terse."}`}
	for i := range 21 {
		text := fmt.Sprint(i)
		speak := user
		if i%2 == 1 {
			speak = assistant
		}
		messages = append(messages, speak(text+words(10_000-count(text))))
	}
	req := TrimRequest{Conversation: conversation(messages...)}
	before := string(req.Messages)
	got := mustTrim(t, req)
	if string(req.Messages) != before {
		t.Error("the input changed")
	}
	system := count("You are terse.")
	want := TrimResult{
		Messages: json.RawMessage("[" + messages[0] + "," + strings.Join(messages[5:], ",") + "]"),
		Tokens:   system + 170_000, OriginalTokens: system + 210_000,
		Removed: []int{1, 2, 3, 4}, Cleared: []int{}, Satisfied: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each case lists messages by a letter and their tokens. The result lists the letters of the kept messages.
func TestTrimGroups(t *testing.T) {
	const tenTokens = " a a a a a a a a a a"
	call := func(ids ...string) string {
		var calls []string
		for _, id := range ids {
			calls = append(calls, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"read","arguments":"%s"}}`, id, tenTokens))
		}
		return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
	}
	tool := func(id string) string {
		return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"%s"}`, id, tenTokens)
	}
	use := func(ids ...string) string {
		blocks := []string{`{"type":"thinking","thinking":"` + tenTokens + `","signature":"c2ln"}`}
		for _, id := range ids {
			blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"read","input":{}}`, id))
		}
		return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
	}
	results := func(text string, ids ...string) string {
		var blocks []string
		for _, id := range ids {
			blocks = append(blocks, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":"%s"}`, id, tenTokens))
		}
		if text != "" {
			blocks = append(blocks, fmt.Sprintf(`{"type":"text","text":%q}`, text))
		}
		return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
	}
	gemini := func(part string) string { return `{"role":"model","parts":[` + part + `]}` }
	geminiCall := gemini(`{"functionCall":{"name":"read","args":{"text":"` + tenTokens + `"}}}`)
	geminiAnswer := `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"` + tenTokens + `"}}}]}`
	plain := user(tenTokens)
	system := `{"role":"developer","content":"` + tenTokens + `"}`

	for _, tt := range []struct {
		name     string
		messages []string
		target   int
		req      TrimRequest
		removed  []int
	}{
		{"nothing to do", []string{plain, plain}, 20, TrimRequest{}, nil},
		{"the oldest goes first", []string{plain, plain, plain}, 20, TrimRequest{}, []int{0}},
		{"system stays wherever it stands", []string{plain, system, plain}, 20, TrimRequest{}, []int{0}},
		{"parallel calls go with all their answers", []string{call("a", "b"), tool("a"), tool("b"), plain}, 45, TrimRequest{}, []int{0, 1, 2}},
		{"a call goes with a late answer", []string{call("a"), plain, tool("a"), plain}, 30, TrimRequest{}, []int{0, 1, 2}},
		{"results mixed with text", []string{use("a", "b"), results("go on", "a", "b"), plain}, 30, TrimRequest{}, []int{0, 1}},
		{"one message answers two", []string{use("a"), use("b"), results("", "a", "b"), plain}, 40, TrimRequest{}, []int{0, 1, 2}},
		{"a call without an answer", []string{use("a"), plain, plain}, 20, TrimRequest{}, []int{0}},
		{"an answer without a call", []string{tool("x"), plain, plain}, 20, TrimRequest{}, []int{0}},
		{"ids used again", []string{call("a"), tool("a"), call("a"), tool("a")}, 30, TrimRequest{}, []int{0, 1}},
		{"names instead of ids", []string{geminiCall, geminiAnswer, geminiCall, geminiAnswer}, 40, TrimRequest{}, []int{0, 1}},
		{"a name where only the answer has an id", []string{geminiCall, strings.Replace(geminiAnswer, `"name"`, `"id":"r","name"`, 1), geminiCall}, 40, TrimRequest{}, []int{0, 1}},
		{"a name where only the call has an id", []string{strings.Replace(geminiCall, `"name"`, `"id":"r","name"`, 1), geminiAnswer, geminiCall}, 40, TrimRequest{}, []int{0, 1}},
		{"what hangs together with a system message", []string{strings.Replace(call("a"), "assistant", "system", 1), tool("a"), plain}, 5, TrimRequest{}, []int{2}},
		{
			"a function's answer",
			[]string{`{"role":"assistant","function_call":{"name":"read","arguments":"` + tenTokens + `"}}`, `{"role":"function","name":"read","content":"` + tenTokens + `"}`, plain},
			20, TrimRequest{}, []int{0, 1},
		},
		{"the newest goes too when it must", []string{plain}, 5, TrimRequest{}, []int{0}},
		{"unless it is protected", []string{plain, plain}, 5, TrimRequest{KeepLast: 1}, []int{0}},
		{"protection counts groups", []string{plain, call("a"), tool("a"), plain}, 5, TrimRequest{KeepLast: 2}, []int{0}},
		{"protection of more than there is", []string{plain}, 5, TrimRequest{KeepLast: 9}, nil},
		{"start on user", []string{plain, use("a"), results("", "a"), assistant("x"), plain, plain}, 1000, TrimRequest{StartOn: "user"}, nil},
		{"start on user after a cut", []string{plain, use("a"), results("", "a"), assistant("x"), plain, plain}, 43, TrimRequest{StartOn: "user"}, []int{0, 1, 2, 3}},
		{"start on user, not on an answer without a call", []string{results("go on", "x"), tool("x"), plain}, 1000, TrimRequest{StartOn: "user"}, []int{0, 1}},
		{"start on user without any", []string{plain, use("a"), results("", "a")}, 25, TrimRequest{StartOn: "user"}, []int{0, 1, 2}},
		{"start on user and protection", []string{plain, use("a"), results("", "a")}, 25, TrimRequest{StartOn: "user", KeepLast: 1}, []int{0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := tt.req
			req.Conversation, req.TargetTokens = conversation(tt.messages...), &tt.target
			got := mustTrim(t, req)
			if diff := cmp.Diff(append([]int{}, tt.removed...), got.Removed); diff != "" {
				t.Errorf("removed (-want +got):\n%s", diff)
			}
			if got.Satisfied != (got.Tokens <= tt.target) {
				t.Errorf("%d tokens for %d, satisfied %v", got.Tokens, tt.target, got.Satisfied)
			}
		})
	}
}

func TestTrimSystemAloneIsTooLarge(t *testing.T) {
	c := conversation(`{"role":"system","content":"`+words(50)+`"}`, user("hello"), `{"role":"developer","content":"`+words(50)+`"}`)
	c.System, c.Tools = json.RawMessage(quote(words(50))), json.RawMessage(`["`+words(50)+`"]`)
	target := 199
	got := mustTrim(t, TrimRequest{Conversation: c, TargetTokens: &target})
	if got.Satisfied || got.Tokens != 200 || !cmp.Equal(got.Removed, []int{1}) {
		t.Errorf("got %d tokens, satisfied %v, removed %v; want 200, false, [1]", got.Tokens, got.Satisfied, got.Removed)
	}
}

// Bytes that encoding/json would rewrite come out unchanged.
func TestTrimKeepsBytes(t *testing.T) {
	odd := "{ \"role\" : \"user\",\n\t\"content\":\"<a&b> \\/ \\u003c \\ud83d \\u2028 \u2028 \xff\", \"n\":1.50, \"n\":1e2 }"
	for _, tt := range []struct{ input, want string }{
		{"[ " + odd + " ,\n" + odd + "]", "[ " + odd + " ,\n" + odd + "]"},
		{"[" + user(words(500)) + " , " + odd + " , " + odd + " ]", "[" + odd + "," + odd + "]"},
	} {
		target := 100
		got := mustTrim(t, TrimRequest{Conversation: Conversation{Messages: json.RawMessage(tt.input)}, TargetTokens: &target})
		if diff := cmp.Diff(tt.want, string(got.Messages)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !strings.Contains(string(got.AppendJSON(nil)), tt.want) {
			t.Errorf("AppendJSON changed the messages: %s", got.AppendJSON(nil))
		}
	}
}

func TestTrimResultJSON(t *testing.T) {
	got := TrimResult{Messages: json.RawMessage(`[ ]`), Tokens: 1, OriginalTokens: 2, Removed: []int{0, 3}, Cleared: []int{}, Satisfied: true}
	want := `{"messages":[ ],"tokens":1,"originalTokens":2,"removed":[0,3],"cleared":[],"satisfied":true}`
	if diff := cmp.Diff(want, string(got.AppendJSON(nil))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTrimClearsToolResults(t *testing.T) {
	long := words(100)
	placeholder := func(n int) string { return fmt.Sprintf("[tool result cleared by ctxls: %d tokens]", n) }
	for _, tt := range []struct {
		name          string
		input, output string // two messages with a long result each; the first one cleared
	}{
		{
			name:   "OpenAI",
			input:  `{"role":"tool", "tool_call_id":"a", "content":"` + long + `"}`,
			output: `{"role":"tool", "tool_call_id":"a", "content":"` + placeholder(100) + `"}`,
		},
		{
			name:   "Anthropic blocks",
			input:  `{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"` + long + `"}],"tool_use_id":"a"},{"type":"text","text":"and\/now"}]}`,
			output: `{"role":"user","content":[{"type":"tool_result","content":"` + placeholder(100) + `","tool_use_id":"a"},{"type":"text","text":"and\/now"}]}`,
		},
		{
			name:   "OpenCode with a picture",
			input:  `{"info":{"role":"assistant"},"parts":[{"type":"tool","tool":"read","state":{"attachments":[{"type":"file","mime":"image/png","url":"file:///a.png"}],"input":{},"output":"` + long + `"}}]}`,
			output: `{"info":{"role":"assistant"},"parts":[{"type":"tool","tool":"read","state":{"attachments":[],"input":{},"output":"` + placeholder(100+1369) + `"}}]}`,
		},
		{
			name:   "Gemini",
			input:  `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{ "content" : "` + long + `"}}}]}`,
			output: `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"` + placeholder(count(`{"content":"`+long+`"}`)) + `"}}}]}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := conversation(user("go"), tt.input, tt.input)
			all := mustMeasure(t, MeasureRequest{Conversation: c}).Tokens
			target := all - 20
			req := TrimRequest{Conversation: c, TargetTokens: &target, Strategy: "toolResults"}
			got := mustTrim(t, req)
			want := string(conversation(user("go"), tt.output, tt.input).Messages)
			if diff := cmp.Diff(want, string(got.Messages)); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			if !cmp.Equal(got.Cleared, []int{1}) || len(got.Removed) > 0 || !got.Satisfied {
				t.Errorf("cleared %v, removed %v, satisfied %v; want [1], [], true", got.Cleared, got.Removed, got.Satisfied)
			}
			measured := mustMeasure(t, MeasureRequest{Conversation: Conversation{Messages: got.Messages}}).Tokens
			if got.Tokens != measured {
				t.Errorf("says %d tokens, measures %d", got.Tokens, measured)
			}

			// Cleared results are never cleared again, so the next step removes them.
			target = 5
			req.Messages, req.TargetTokens = got.Messages, &target
			if again := mustTrim(t, req); strings.Contains(string(again.Messages), "cleared") || !cmp.Equal(again.Removed, []int{0, 1, 2}) {
				t.Errorf("the second trim gave %s", again.Messages)
			}
			target, req.KeepLast = 5, 3
			if again := mustTrim(t, req); string(again.Messages) != string(got.Messages) {
				t.Errorf("what is protected was cleared: %s", again.Messages)
			}
		})
	}
}

func TestTrimClearsOnlyWhereThatSaves(t *testing.T) {
	short := `{"role":"tool","tool_call_id":"a","content":"ok"}`
	target := count("go") + 2*count("ok") + 99
	c := conversation(user("go"), short, `{"role":"tool","tool_call_id":"a","content":"`+words(100)+`"}`, short)
	got := mustTrim(t, TrimRequest{Conversation: c, TargetTokens: &target, Strategy: "toolResults"})
	if !cmp.Equal(got.Cleared, []int{2}) || len(got.Removed) > 0 {
		t.Errorf("cleared %v, removed %v; want [2], []", got.Cleared, got.Removed)
	}
}

// In nested results only the inner results are cleared, since the outer result answers calls.
func TestTrimClearsResultsInsideResults(t *testing.T) {
	result := func(id, content string) string {
		return `{"type":"tool_result","tool_use_id":"` + id + `","content":` + content + `}`
	}
	text := `{"type":"text","text":"` + words(10) + `"}`
	message := func(inner string) string {
		return `{"role":"user","content":[` + result("a", `[`+result("b", inner)+`,`+text+`]`) + `,` + text + `]}`
	}
	req := TrimRequest{Conversation: conversation(message(`"` + words(100) + `"`)), TargetTokens: new(1), Strategy: "toolResults", KeepLast: 0}
	if got := mustTrim(t, req); string(got.Messages) != "[]" || got.OriginalTokens != 120 {
		t.Errorf("at a target of 1: %+v", got)
	}
	req.TargetTokens = new(50)
	got := mustTrim(t, req)
	if want := string(conversation(message(`"[tool result cleared by ctxls: 100 tokens]"`)).Messages); string(got.Messages) != want {
		t.Errorf("got %s, want %s", got.Messages, want)
	}
	req.Messages = got.Messages
	if measured := mustMeasure(t, MeasureRequest{Conversation: req.Conversation}).Tokens; got.Tokens != measured {
		t.Errorf("says %d tokens, measures %d", got.Tokens, measured)
	}
}

// A placeholder stays unchanged, though a placeholder with a smaller number would be shorter.
func TestTrimNeverClearsTwice(t *testing.T) {
	for _, message := range []string{
		`{"role":"tool","tool_call_id":"a","content":"[tool result cleared by ctxls: 123456789123456789 tokens]"}`,
		`{"info":{"role":"assistant"},"parts":[{"type":"tool","tool":"read","state":{"output":"[tool result cleared by ctxls: 123456789123456789 tokens]"}}]}`,
		`{"parts":[{"functionResponse":{"name":"read","response":{"output":"[tool result cleared by ctxls: 123456789123456789 tokens]"}}}]}`,
	} {
		got := mustTrim(t, TrimRequest{Conversation: conversation(message, user("hi")), TargetTokens: new(5), Strategy: "toolResults"})
		if len(got.Cleared) > 0 || !cmp.Equal(got.Removed, []int{0}) {
			t.Errorf("%s: cleared %v, removed %v; want [], [0]", message, got.Cleared, got.Removed)
		}
		got = mustTrim(t, TrimRequest{Conversation: conversation(message, user("hi")), TargetTokens: new(18), Strategy: "toolResults"})
		if len(got.Cleared) > 0 {
			t.Errorf("%s: cleared again: %s", message, got.Messages)
		}
	}
}

func TestTrimRefuses(t *testing.T) {
	zero := 0
	user := conversation(user("hi"))
	for _, tt := range []struct {
		req  TrimRequest
		want string
	}{
		{TrimRequest{}, "messages: expected an array, got nothing"},
		{TrimRequest{Conversation: user, TargetTokens: &zero}, "targetTokens: expected a whole number above 0, got 0"},
		{TrimRequest{Conversation: user, Strategy: "newest"}, `strategy: expected "oldest", "toolResults" or "plan", got "newest"`},
		{TrimRequest{Conversation: user, StartOn: "assistant"}, `startOn: expected "user", got "assistant"`},
		{TrimRequest{Conversation: user, KeepLast: -1}, "keepLast: expected a whole number, 0 or above, got -1"},
	} {
		_, err := testMeter().Trim(tt.req)
		e, ok := errors.AsType[*coded.Error](err)
		if !ok || e.Code != coded.Invalid || e.Error() != tt.want {
			t.Errorf("got %v, want %s (invalid)", err, tt.want)
		}
	}
}

// The code that meets the requirement names it.
func TestRequirementTag(t *testing.T) {
	for file, function := range map[string]string{"measure.go": "Measure", "trim.go": "Trim"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		doc := regexp.MustCompile(`((?://.*\n)+)func \(m \*Meter\) ` + function + `\(`).FindSubmatch(source)
		if doc == nil || !strings.Contains(string(doc[1]), "1_PRD-REQ-MET-010") {
			t.Errorf("%s: the doc comment of %s does not name 1_PRD-REQ-MET-010", file, function)
		}
	}
}

// Groups are as old as their newest message: the answer to an old call is new.
func TestTrimAgesAGroupByItsNewestMessage(t *testing.T) {
	messages := []string{`{"role":"assistant","content":"","tool_calls":[{"id":"1","type":"function","function":{"name":"read","arguments":"{}"}}]}`, user(words(40)), user(words(40)), user(words(40)), `{"role":"tool","tool_call_id":"1","content":` + quote(words(60)) + `}`}
	target := 110
	got, err := testMeter().Trim(TrimRequest{Conversation: conversation(messages...), TargetTokens: &target, KeepLast: 1})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 2}, got.Removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if !got.Satisfied {
		t.Errorf("%d tokens", got.Tokens)
	}
}

// An agent loop learns whether even the remaining messages are too long, and whether any message is left to send.
func TestPrepareSaysWhetherTheTargetIsMet(t *testing.T) {
	threshold, target := 50, 20
	for _, test := range []struct {
		keep      int
		messages  []string
		satisfied bool
	}{
		{0, []string{user(words(30))}, true},
		{1, []string{user(words(60)), user(words(15))}, true},
		{1, []string{user(words(60)), user(words(30))}, false},
		{0, []string{user(words(60))}, false},
	} {
		got, err := testMeter().Prepare(PrepareRequest{TaskID: "t", ThresholdTokens: &threshold,
			TrimRequest: TrimRequest{Conversation: conversation(test.messages...), TargetTokens: &target, KeepLast: test.keep}})
		if err != nil || got.Satisfied != test.satisfied {
			t.Errorf("keepLast %d of %d messages: satisfied %t, %v", test.keep, len(test.messages), got.Satisfied, err)
		}
	}
}

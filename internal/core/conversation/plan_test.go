package conversation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/plan"
)

// Each form with a replaced read, a failed call, an old picture and an old thought, and the result of a trim by plan
// that must remove as much as possible.
func TestPlanForms(t *testing.T) {
	old := quote(strings.Repeat("package a which is the first version of it\n", 12))
	long := quote(strings.Repeat("x ", 200))
	thought := quote(strings.Repeat("I wonder about it. ", 20))
	png := "iVBORw0KGgoAAAANSUhEUgAABAAAAAQA"
	for _, tt := range []struct {
		form  string
		conv  []string
		kinds []plan.Kind
		want  map[int]string // by message
	}{
		{
			"anthropic", []string{
				`{"role":"user","content":[{"type":"text","text":"go"}, {"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + png + `"}}]}`,
				`{"role":"assistant","content":[ {"type":"thinking","thinking":` + thought + `,"signature":"c2ln"} , {"type":"tool_use","id":"1","name":"Read","input":{"file_path":"/a.go"}},` +
					`{"type":"tool_use","id":"2","name":"Bash","input": {"command":` + long + `}} ]}`,
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":` + old + `}]},{"type":"tool_result","tool_use_id":"2","is_error":true,"content":"no"}]}`,
				`{"role":"assistant","content":[{"type":"tool_use","id":"3","name":"Write","input":{"file_path":"/a.go","content":"new"}}]}`,
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"3","content":"ok"}]}`,
			}, []plan.Kind{plan.Superseded, plan.Thinking, plan.Failed, plan.Binary}, map[int]string{
				0: `{"role":"user","content":[{"type":"text","text":"go"}, {"type":"text","text":"[image or document cleared by ctxls: N tokens]"}]}`,
				1: `{"role":"assistant","content":[  {"type":"tool_use","id":"1","name":"Read","input":{"file_path":"/a.go"}},` +
					`{"type":"tool_use","id":"2","name":"Bash","input": {"cleared":"[input of a failed call cleared by ctxls: N tokens]"}} ]}`,
				2: `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"[tool result cleared by ctxls: N tokens]"},{"type":"tool_result","tool_use_id":"2","is_error":true,"content":"no"}]}`,
			},
		},
		{
			"openai", []string{
				`{"role":"user","content":[{"type":"text","text":"go"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + png + `"}}]}`,
				`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"/a.go\"}"}}]}`,
				`{"role":"tool","tool_call_id":"1","content":` + old + `}`,
				`{"role":"assistant","tool_calls":[{"id":"3","function":{"name":"write_file","arguments":"{\"path\":\"/a.go\"}"}}]}`,
				`{"role":"tool","tool_call_id":"3","content":"ok"}`,
			}, []plan.Kind{plan.Superseded, plan.Binary}, map[int]string{
				0: `{"role":"user","content":[{"type":"text","text":"go"},{"type":"text","text":"[image or document cleared by ctxls: N tokens]"}]}`,
				2: `{"role":"tool","tool_call_id":"1","content":"[tool result cleared by ctxls: N tokens]"}`,
			},
		},
		{
			"opencode", []string{
				`{"info":{"role":"user"},"parts":[{"type":"text","text":"go"},{"type":"file","mime":"image/png","url":"data:image/png;base64,` + png + `"}]}`,
				`{"info":{"role":"assistant"},"parts":[{"type":"tool","tool":"read","callID":"1","state":{"status":"completed","input":{"filePath":"/a.go"},"output":` + old + `}} , {"type":"reasoning","text":` + thought + `}]}`,
				`{"info":{"role":"assistant"},"parts":[{"type":"tool","tool":"bash","callID":"2","state":{"status":"error","input":{"command":` + long + `},"error":"no"}}]}`,
				`{"info":{"role":"assistant"},"parts":[{"type":"tool","tool":"write","callID":"3","state":{"status":"completed","input":{"filePath":"/a.go"},"output":"ok"}}]}`,
			}, []plan.Kind{plan.Superseded, plan.Thinking, plan.Failed, plan.Binary}, map[int]string{
				0: `{"info":{"role":"user"},"parts":[{"type":"text","text":"go"},{"type":"text","text":"[image or document cleared by ctxls: N tokens]"}]}`,
				1: `{"info":{"role":"assistant"},"parts":[{"type":"tool","tool":"read","callID":"1","state":{"status":"completed","input":{"filePath":"/a.go"},"output":"[tool result cleared by ctxls: N tokens]"}} ]}`,
				2: `{"info":{"role":"assistant"},"parts":[{"type":"tool","tool":"bash","callID":"2","state":{"status":"error","input":{"cleared":"[input of a failed call cleared by ctxls: N tokens]"},"error":"no"}}]}`,
			},
		},
		{
			"gemini", []string{
				`{"role":"user","parts":[{"text":"go"},{"inlineData":{"mimeType":"image/png","data":"` + png + `"}}]}`,
				`{"role":"model","parts":[{"functionCall":{"name":"read_file","args":{"path":"/a.go"}}}]}`,
				`{"role":"user","parts":[{"functionResponse":{"name":"read_file","response":{"output":` + old + `}}}]}`,
				`{"role":"model","parts":[{"functionCall":{"name":"write_file","args":{"path":"/a.go","content":` + long + `}}}]}`,
				`{"role":"user","parts":[{"functionResponse":{"name":"write_file","response":{"output":"ok"}}}]}`,
				`{"role":"model","parts":[{"functionCall":{"name":"replace","args":{"path":"/b.go","x":` + long + `}}}]}`,
				`{"role":"user","parts":[{"functionResponse":{"name":"replace","response":{"error":"no"}}}]}`,
			}, []plan.Kind{plan.Superseded, plan.Failed, plan.Binary}, map[int]string{
				0: `{"role":"user","parts":[{"text":"go"},{"text":"[image or document cleared by ctxls: N tokens]"}]}`,
				2: `{"role":"user","parts":[{"functionResponse":{"name":"read_file","response":{"output":"[tool result cleared by ctxls: N tokens]"}}}]}`,
				5: `{"role":"model","parts":[{"functionCall":{"name":"replace","args":{"cleared":"[input of a failed call cleared by ctxls: N tokens]"}}}]}`,
			},
		},
	} {
		t.Run(tt.form, func(t *testing.T) {
			conv := slices.Clone(tt.conv)
			for range 12 {
				switch tt.form {
				case "opencode":
					conv = append(conv, `{"info":{"role":"user"},"parts":[{"type":"text","text":"and"}]}`, `{"info":{"role":"assistant"},"parts":[{"type":"text","text":"done"}]}`)
				case "gemini":
					conv = append(conv, `{"role":"user","parts":[{"text":"and"}]}`, `{"role":"model","parts":[{"text":"done"}]}`)
				default:
					conv = append(conv, `{"role":"user","content":"and"}`, `{"role":"assistant","content":"done"}`)
				}
			}
			c := conversation(conv...)
			c.Model = "claude-opus-4-6"
			report, err := testMeter().Plan(PlanRequest{Conversation: c})
			if err != nil {
				t.Fatal(err)
			}
			var kinds []plan.Kind
			for _, it := range report.Items {
				kinds = append(kinds, it.Kind)
			}
			if !slices.Equal(kinds, tt.kinds) {
				t.Fatalf("got %v, want %v", kinds, tt.kinds)
			}
			if m, err := testMeter().Measure(MeasureRequest{Conversation: c}); err != nil || m.Tokens != report.Tokens {
				t.Fatalf("the plan is of %d tokens, the conversation measures %d, %v", report.Tokens, m.Tokens, err)
			}
			target := report.AfterTokens
			got, err := testMeter().Trim(TrimRequest{Conversation: c, TargetTokens: &target, Strategy: "plan"})
			if err != nil {
				t.Fatal(err)
			}
			if got.Tokens != report.AfterTokens || len(got.Removed) > 0 || len(got.Cleared) != len(tt.want) {
				t.Fatalf("trimmed to %d, removed %v, cleared %v; the plan says %d", got.Tokens, got.Removed, got.Cleared, report.AfterTokens)
			}
			for i, m := range conv {
				if want := tt.want[i]; want != "" {
					conv[i] = want
				} else {
					conv[i] = m
				}
			}
			if want := string(conversation(conv...).Messages); withoutCounts(string(got.Messages)) != want {
				t.Errorf("got  %s\nwant %s", withoutCounts(string(got.Messages)), want)
			}
		})
	}
}

// withoutCounts replaces the figures in placeholders.
func withoutCounts(s string) string {
	const mark = " cleared by ctxls: "
	var out strings.Builder
	for {
		at := strings.Index(s, mark)
		if at < 0 {
			return out.String() + s
		}
		out.WriteString(s[:at+len(mark)] + "N")
		s = strings.TrimLeft(s[at+len(mark):], "0123456789")
	}
}

func TestPlanRefuses(t *testing.T) {
	negative, zero := -1, 0
	price := -0.5
	for _, tt := range []struct {
		req  PlanRequest
		want string
	}{
		{PlanRequest{}, "messages: expected an array, got nothing"},
		{PlanRequest{Conversation: conversation(), TargetTokens: &zero}, "targetTokens: expected a whole number above 0, got 0"},
		{PlanRequest{Conversation: conversation(), KeepLast: &negative}, "keepLast: expected a whole number, 0 or above, got -1"},
		{PlanRequest{Conversation: conversation(), CompactionTokens: &zero}, "compactionTokens: expected a whole number above 0, got 0"},
		{PlanRequest{Conversation: conversation(), Prices: &plan.PriceOptions{CacheRead: &price}}, "prices.cacheRead: expected a number, 0 or above, got -0.5"},
	} {
		if _, err := testMeter().Plan(tt.req); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

// A session of the size in our performance claim: 200,000 tokens in reads, commands and answers.
func BenchmarkPlan200k(b *testing.B) {
	conv := agentConversation(200_000)
	meter := testMeter()
	req := PlanRequest{Conversation: conv}
	if m, err := meter.Measure(MeasureRequest{Conversation: conv}); err != nil || m.Tokens < 200_000 {
		b.Fatalf("%d tokens, %v", m.Tokens, err)
	}
	if _, err := meter.Plan(req); err != nil {
		b.Fatal(err)
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			if _, err := testMeter().Plan(req); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			if _, err := meter.Plan(req); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPlanMessages shows that the time is linear: ten times the messages take ten times as long.
func BenchmarkPlanMessages(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		var messages []string
		for i := range n / 4 {
			messages = append(messages,
				`{"role":"user","content":"go on with the next step please"}`,
				fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"Read","input":{"file_path":"/src/f%d.go"}}]}`, i, i%100),
				fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"package f%d of version %d with some text in it and more of that"}]}`, i, i%100, i),
				`{"role":"assistant","content":"I have read the file and go on."}`)
		}
		req := PlanRequest{Conversation: conversation(messages...)}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := testMeter().Plan(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// agentConversation returns a conversation like an agent's session, of about that many tokens.
func agentConversation(tokens int) Conversation {
	messages := []string{`{"role":"user","content":"Mend the parser, and keep the tests green."}`}
	for size, i := 0, 0; size < tokens; i++ {
		var body strings.Builder
		for line := range 120 {
			fmt.Fprintf(&body, "%6d→\tif v%d, ok := table[%d]; ok && v%d.kind == kind%d { return decode(v%d, opts) }\n", line+1, line+i, i*7+line, line, line%13, i)
		}
		messages = append(messages,
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"Now I look into part %d of the tables."},{"type":"tool_use","id":"t%d","name":"Read","input":{"file_path":"/src/p%d.go"}}]}`, i, i, i%20),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":[{"type":"text","text":%s}]}]}`, i, quote(body.String())))
		size += 120 * 28
	}
	return conversation(messages...)
}

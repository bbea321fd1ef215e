package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/jsonscan"
	"pgregory.net/rapid"
)

// drawn is a generated conversation with the messages that belong together.
type drawn struct {
	messages []string
	pairs    [][2]int // message of a call, message of its answer
	system   []int
}

// dialect writes messages in one of the four forms. A nil result means that the form keeps results in the message of the
// call.
type dialect struct {
	name   string
	text   func(role, text string) string
	call   func(ids []string, args string) string
	answer func(ids []string, body string) []string
}

func blocks(format string, ids []string, rest string) string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprintf(format, quote(id), quote(rest)))
	}
	return strings.Join(out, " , ")
}

var dialects = []dialect{
	{
		name: "openai",
		text: func(role, text string) string {
			return fmt.Sprintf("{ \"role\":%q,\n\"content\":%s}", role, quote(text))
		},
		call: func(ids []string, args string) string {
			return `{"role":"assistant","content":null,"tool_calls":[` + blocks(`{"id":%s,"type":"function","function":{"name":"run","arguments":%s}}`, ids, args) + `]}`
		},
		answer: func(ids []string, body string) (out []string) {
			for _, id := range ids {
				out = append(out, fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%s}`, id, quote(body)))
			}
			return out
		},
	},
	{
		name: "anthropic",
		text: func(role, text string) string {
			return fmt.Sprintf(`{"role":%q,"content":[{"type":"text","text":%s}],"x":1.50}`, role, quote(text))
		},
		call: func(ids []string, args string) string {
			return `{"role":"assistant","content":[{"type":"thinking","thinking":"hm \ud83d","signature":"c2ln"},` + blocks(`{"type":"tool_use","id":%s,"name":"run","input":{"a": %s}}`, ids, args) + `]}`
		},
		answer: func(ids []string, body string) []string {
			return []string{`{"role":"user","content":[` + blocks(`{"type":"tool_result","tool_use_id":%s,"content":[{"type":"text","text":%s}]}`, ids, body) + `,{"type":"text","text":"and <so> on\/"}]}`}
		},
	},
	{
		name: "opencode",
		text: func(role, text string) string {
			return fmt.Sprintf(`{"info":{"id":"m","role":%q},"parts":[{"type":"text","text":%s}]}`, role, quote(text))
		},
		call: func(ids []string, args string) string {
			return `{"info":{"role":"assistant"},"parts":[` + blocks(`{"type":"tool","tool":"run","callID":%s,"state":{"input":{},"output":%s}}`, ids, args+strings.Repeat(" again", 30)) + `]}`
		},
	},
	{
		name: "gemini",
		text: func(role, text string) string {
			if role == "assistant" {
				role = "model"
			}
			return fmt.Sprintf(`{"role":%q,"parts":[{"text":%s}]}`, role, quote(text))
		},
		call: func(ids []string, args string) string {
			return `{"role":"model","parts":[` + blocks(`{"functionCall":{"name":%s,"args":{"a":%s}}}`, ids, args) + `]}`
		},
		answer: func(ids []string, body string) []string {
			return []string{`{"role":"user","parts":[` + blocks(`{"functionResponse":{"name":%s,"response":{"output":%s}}}`, ids, body) + `]}`}
		},
	},
}

var drawText = rapid.Custom(func(t *rapid.T) string {
	word := rapid.SampledFrom([]string{"alpha", " the", "<b>", "\n", "\u2028", "Größe", "漢字", "😀", `"quoted"`, "[tool result cleared by ctxls: 3 tokens]"}).Draw(t, "word")
	return strings.Repeat(word, rapid.IntRange(0, 40).Draw(t, "times"))
})

const drawnPicture = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`

// drawFile writes a call on a file and its answer, with content that plans detect: repeated files, failures, pictures,
// thoughts.
func drawFile(t *rapid.T, id string) (call, answer string) {
	tool := rapid.SampledFrom([]string{"Read", "Write", "Edit", "Grep"}).Draw(t, "tool")
	path := rapid.SampledFrom([]string{"/src/a.go", "/src/b.go"}).Draw(t, "path")
	line := rapid.SampledFrom([]string{"func main is where the program begins to run", "package of things that nobody ever imports"}).Draw(t, "line")
	text := strings.Repeat(line+"\n", rapid.IntRange(1, 12).Draw(t, "lines"))
	failed := rapid.Bool().Draw(t, "failed")
	input := fmt.Sprintf(`{"file_path":%q, "content":%s}`, path, quote(text))
	switch rapid.SampledFrom([]string{"openai", "anthropic", "opencode", "gemini"}).Draw(t, "form of the file") {
	case "openai":
		return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]}`, id, tool, quote(input)),
			fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%s}`, id, quote(text))
	case "opencode":
		state := `"output":` + quote(text)
		if failed {
			state = `"status":"error","error":` + quote(text)
		}
		return fmt.Sprintf(`{"info":{"role":"assistant"},"parts":[{"type":"reasoning","text":%s} ,{"type":"tool","callID":%q,"tool":%q,"state":{"input":%s,%s}}]}`, quote(text), id, tool, input, state), ""
	case "gemini":
		return fmt.Sprintf(`{"role":"model","parts":[{"functionCall":{"id":%q,"name":%q,"args":%s}}]}`, id, tool, input),
			fmt.Sprintf(`{"role":"user","parts":[{"functionResponse":{"id":%q,"name":%q,"response":{"output":%s}}},{"inlineData":{"mimeType":"image/png","data":"aGk="}}]}`, id, tool, quote(text))
	}
	thought := `{"type":"thinking","thinking":` + quote(strings.Repeat("I wonder about it. ", 20)) + `,"signature":"c2ln"}`
	content := thought + ` , ` + thought + `,{"type":"tool_use","id":"` + id + `","name":"` + tool + `","input":` + input + `}`
	if rapid.Bool().Draw(t, "thought after") {
		content += " ,\n" + thought
	}
	return `{"role":"assistant","content":[` + content + `]}`,
		fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"is_error":%v,"content":[{"type":"text","text":%s},%s]},%s]}`, id, failed, quote(text), drawnPicture, drawnPicture)
}

// drawConversation also mixes forms in one conversation, since each message is parsed by its own form.
var drawConversation = rapid.Custom(func(t *rapid.T) (d drawn) {
	reuse := rapid.Bool().Draw(t, "reuse ids")
	mixed := rapid.Bool().Draw(t, "mixed forms")
	form := rapid.SampledFrom(dialects).Draw(t, "form")
	add := func(m string) int {
		d.messages = append(d.messages, m)
		return len(d.messages) - 1
	}
	for step := range rapid.IntRange(0, 16).Draw(t, "steps") {
		if mixed {
			form = rapid.SampledFrom(dialects).Draw(t, "form of the step")
		}
		switch rapid.SampledFrom([]string{"system", "user", "assistant", "tools", "tools", "orphan", "file", "file"}).Draw(t, "step") {
		case "file":
			caller, answer := drawFile(t, fmt.Sprintf("file-%d", step))
			at := add(caller)
			if answer != "" {
				d.pairs = append(d.pairs, [2]int{at, add(answer)})
			}
		case "system":
			role := rapid.SampledFrom([]string{"system", "developer"}).Draw(t, "role")
			d.system = append(d.system, add(form.text(role, drawText.Draw(t, "text"))))
		case "user":
			add(form.text("user", drawText.Draw(t, "text")))
		case "assistant":
			add(form.text("assistant", drawText.Draw(t, "text")))
		case "orphan":
			if form.answer != nil {
				add(form.answer([]string{fmt.Sprintf("orphan-%d", step)}, drawText.Draw(t, "body"))[0])
			}
		case "tools":
			var ids []string
			for i := range rapid.IntRange(1, 3).Draw(t, "calls") {
				id := fmt.Sprintf("call-%d", i)
				if !reuse {
					id = fmt.Sprintf("%s-%d", id, step)
				}
				ids = append(ids, id)
			}
			caller := add(form.call(ids, drawText.Draw(t, "arguments")))
			if form.answer == nil {
				continue
			}
			answered := rapid.IntRange(0, len(ids)).Draw(t, "answered")
			if answered == 0 {
				continue
			}
			for _, answer := range form.answer(ids[:answered], drawText.Draw(t, "body")) {
				if rapid.IntRange(0, 4).Draw(t, "interrupted") == 0 {
					add(form.text("user", "wait"))
				}
				d.pairs = append(d.pairs, [2]int{caller, add(answer)})
			}
		}
	}
	return d
})

var drawTrim = rapid.Custom(func(t *rapid.T) TrimRequest {
	target := rapid.IntRange(1, 600).Draw(t, "target")
	return TrimRequest{
		TargetTokens: &target,
		Strategy:     rapid.SampledFrom([]string{"", "oldest", "toolResults", "plan", "plan"}).Draw(t, "strategy"),
		StartOn:      rapid.SampledFrom([]string{"", "user"}).Draw(t, "startOn"),
		KeepLast:     rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "keepLast"),
		Conversation: Conversation{
			Framing: rapid.SampledFrom([]string{"", "openai"}).Draw(t, "framing"),
			System:  json.RawMessage(rapid.SampledFrom([]string{"", `"Be terse."`}).Draw(t, "system")),
			Model:   rapid.SampledFrom([]string{"", "claude-opus-4-6"}).Draw(t, "model"),
		},
	}
})

func TestTrimLaws(t *testing.T) {
	meter := testMeter()
	rapid.Check(t, func(t *rapid.T) {
		d, req := drawConversation.Draw(t, "conversation"), drawTrim.Draw(t, "request")
		req.Messages = conversation(d.messages...).Messages
		trim := func(req TrimRequest) TrimResult {
			result, err := meter.Trim(req)
			if err != nil {
				t.Fatalf("Trim: %v", err)
			}
			return result
		}
		got := trim(req)

		// The reported figures are right.
		measure := MeasureRequest{Conversation: req.Conversation}
		if m, _ := meter.Measure(measure); m.Tokens != got.OriginalTokens {
			t.Fatalf("originalTokens %d, the input measures %d", got.OriginalTokens, m.Tokens)
		}
		measure.Messages = got.Messages
		if m, err := meter.Measure(measure); err != nil || m.Tokens != got.Tokens {
			t.Fatalf("tokens %d, the output measures %d, %v", got.Tokens, m.Tokens, err)
		}
		if got.Satisfied != (got.Tokens <= *req.TargetTokens) {
			t.Fatalf("%d tokens for %d, satisfied %v", got.Tokens, *req.TargetTokens, got.Satisfied)
		}

		// Kept messages are a subsequence, byte for byte, except for cleared results.
		gone := func(i int) bool { return slices.Contains(got.Removed, i) }
		var kept []string
		for i, m := range d.messages {
			if !gone(i) {
				kept = append(kept, m)
			}
		}
		out, err := jsonscan.Parse(got.Messages, nil)
		if err != nil {
			t.Fatalf("the output is %v", err)
		}
		n := 0
		for i := range d.messages {
			if gone(i) {
				continue
			}
			var v jsonscan.Value
			for j, element := range out.Elements() {
				if j == n {
					v = element
				}
			}
			if v.Doc == nil {
				t.Fatalf("message %d is missing", i)
			}
			if cleared := slices.Contains(got.Cleared, i); cleared == (string(v.Raw()) == kept[n]) {
				t.Fatalf("message %d (cleared: %v) came out as %s", i, cleared, v.Raw())
			}
			n++
		}

		// System messages stay, and pairs stay complete.
		for _, i := range d.system {
			if gone(i) {
				t.Fatalf("system message %d is gone", i)
			}
		}
		for _, p := range d.pairs {
			if gone(p[0]) != gone(p[1]) {
				t.Fatalf("call %d gone: %v, its answer %d gone: %v", p[0], gone(p[0]), p[1], gone(p[1]))
			}
		}
		if req.StartOn == "user" && req.KeepLast == 0 {
			for _, v := range out.Elements() {
				r := reader{count: count}
				if err := r.message(v); err != nil {
					t.Fatal(err)
				}
				if r.instructs() {
					continue
				}
				if !r.opensTurn() {
					t.Fatalf("starts on %s", v.Raw())
				}
				break
			}
		}

		// A second trim changes nothing.
		again := req
		again.Messages = got.Messages
		if second := trim(again); !bytes.Equal(second.Messages, got.Messages) || len(second.Removed)+len(second.Cleared) > 0 {
			t.Fatalf("a second trim removed %v and cleared %v", second.Removed, second.Cleared)
		}

		// A larger target keeps a superset.
		larger := *req.TargetTokens + rapid.IntRange(0, 300).Draw(t, "more")
		more := req
		more.TargetTokens = &larger
		for _, i := range trim(more).Removed {
			if !gone(i) {
				t.Fatalf("message %d goes at %d and stays at %d", i, larger, *req.TargetTokens)
			}
		}
	})
}

// Each text is counted separately, so a conversation's count is the sum over its messages, in any order of earlier
// counts.
func TestMeasureAddsUp(t *testing.T) {
	meter := testMeter()
	rapid.Check(t, func(t *rapid.T) {
		d := drawConversation.Draw(t, "conversation")
		sum := 0
		for _, m := range d.messages {
			got, err := testMeter().Measure(MeasureRequest{Conversation: conversation(m)})
			if err != nil {
				t.Fatal(err)
			}
			sum += got.Tokens
		}
		for range 2 {
			got, err := meter.Measure(MeasureRequest{Conversation: conversation(d.messages...), Breakdown: true})
			if err != nil {
				t.Fatal(err)
			}
			byRole, byMessage := 0, 0
			for _, n := range got.ByRole {
				byRole += n
			}
			for _, n := range got.ByMessage {
				byMessage += n
			}
			if got.Tokens != sum || byRole != sum || byMessage != sum {
				t.Fatalf("%d tokens, %d by role, %d by message; alone the messages count %d", got.Tokens, byRole, byMessage, sum)
			}
		}
	})
}

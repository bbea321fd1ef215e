package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// talk is a conversation in a short form, one line for each part.
//
//	system TEXT, user TEXT, aside TEXT, host TEXT, said TEXT, think TEXT, image
//	call ID TOOL INPUT, back ID TEXT, fail ID TEXT
func talk(lines ...string) (parts []Part) {
	for i, line := range lines {
		verb, rest, _ := strings.Cut(line, " ")
		p := Part{Message: i, Text: rest, Tokens: 1000, Left: 10, Within: -1}
		switch verb {
		case "system":
			p.Class = Instructions
		case "user":
			p.Class = Prompt
		case "aside":
			p.Class = Aside
		case "host":
			p.Class = Injected
		case "said":
			p.Class = Answer
		case "think":
			p.Class = Thought
		case "image":
			p.Class = Media
		case "call":
			p.Class = Call
			p.CallID, p.Text, _ = strings.Cut(rest, " ")
			p.Tool, p.Text, _ = strings.Cut(p.Text, " ")
		case "back", "fail":
			p.Class, p.Failed = Result, verb == "fail"
			p.CallID, p.Text, _ = strings.Cut(rest, " ")
		}
		p.Text = strings.ReplaceAll(p.Text, "|", "\n")
		parts = append(parts, p)
	}
	return parts
}

// turns returns further turns without relevant content.
func turns(n int) (lines []string) {
	for range n {
		lines = append(lines, "user go on", "said done")
	}
	return lines
}

// calls returns further responses of the same turn.
func calls(n int) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf("call more%d Bash {}", i), fmt.Sprintf("back more%d ok", i))
	}
	return lines
}

const (
	readA  = `Read {"file_path":"/src/a.go"}`
	fileA1 = "package a which is the first version of it|func old() is still here and does things"
	fileA2 = "package a which is the other version of it|func new() is now here and does things"
)

func TestKinds(t *testing.T) {
	for _, tt := range []struct {
		name string
		conv []string
		want string // "PART kind", …
	}{
		{"read again after an edit", []string{"user x", "call 1 " + readA, "back 1 " + fileA1, `call 2 Edit {"file_path":"/src/a.go"}`, "back 2 ok", "call 3 " + readA, "back 3 " + fileA2}, "2 superseded"},
		{"read again without a change, with all lines", []string{"user x", `call 1 Read {"file_path":"/src/a.go","limit":1}`, "back 1 package a which is the first version of it", "call 3 " + readA, "back 3 " + fileA1}, "2 superseded"},
		{"read again, answered with a stub", []string{"user x", "call 1 " + readA, "back 1 " + fileA1, "call 3 " + readA, "back 3 File unchanged since last read. The earlier result is still current."}, ""},
		{"read again in part", []string{"user x", "call 1 " + readA, "back 1 " + fileA1, `call 2 Edit {"file_path":"/src/a.go"}`, "back 2 ok", `call 3 Read {"file_path":"/src/a.go","offset":1}`, "back 3 " + fileA2}, ""},
		{"edited only", []string{"user x", "call 1 " + readA, "back 1 " + fileA1, `call 2 Edit {"file_path":"/src/a.go"}`, "back 2 ok"}, ""},
		{"written as a whole", []string{"user x", "call 1 " + readA, "back 1 " + fileA1, `call 2 Write {"file_path":"/src/a.go","content":"new"}`, "back 2 ok"}, "2 superseded"},
		{"a write that failed", []string{"user x", "call 1 " + readA, "back 1 " + fileA1, `call 2 Write {"file_path":"/src/a.go","content":"new"}`, "fail 2 no"}, ""},
		{"another spelling of a read", []string{"user x", `call 1 read_file {"absolute_path":"/src/a.go"}`, "back 1 " + fileA1, `call 2 mcp__fs__write_file {"path":"/src/a.go"}`, "back 2 ok"}, "2 superseded"},
		{"listed again", []string{"user x", `call 1 Glob {"pattern":"*.go"}`, "back 1 a.go", `call 2 Glob {"pattern":"*.go"}`, "back 2 a.go|b.go"}, "2 superseded"},
		{"a command again", []string{"user x", `call 1 Bash {"command":"ls"}`, "back 1 a.go", `call 2 Bash {"command":"ls"}`, "back 2 a.go|b.go"}, ""},
		{"the same result", []string{"user x", `call 1 Bash {"command":"a"}`, "back 1 " + fileA1, `call 2 Bash {"command":"b"}`, "back 2 " + fileA1}, "2 duplicate"},
		{"quoted by the model", []string{"user x", `call 1 Bash {"command":"a"}`, "back 1 " + fileA1, `call 2 Bash {"command":"b"}`, "back 2 " + fileA1, "said Here `func old() is still here and does things` stands."}, ""},
		{"quoted in part", []string{"user x", `call 1 Bash {"command":"a"}`, "back 1 " + fileA1, `call 2 Bash {"command":"b"}`, "back 2 " + fileA1, "said it is still here and does something"}, "2 duplicate"},
		{"quoted in part, five words", []string{"user x", `call 1 Bash {"command":"a"}`, "back 1 " + fileA1, `call 2 Bash {"command":"b"}`, "back 2 " + fileA1, `said why "still here and does things", pray?`}, ""},
		{"quoted by the user", []string{"user x", "call 1 " + readA, "back 1 " + fileA1, `call 2 Write {"file_path":"/src/a.go"}`, "back 2 ok", "user func old() is still here and does things"}, ""},
		{"failed long ago", append([]string{"user x", `call 1 Bash {"command":"a"}`, "fail 1 no"}, turns(2)...), "1 failed"},
		{"failed 8 responses ago", append([]string{"user x", `call 1 Bash {"command":"a"}`, "fail 1 no"}, calls(8)...), "1 failed"},
		{"failed 7 responses ago", append([]string{"user x", `call 1 Bash {"command":"a"}`, "fail 1 no"}, calls(7)...), ""},
		{"failed lately", append([]string{"user x", `call 1 Bash {"command":"a"}`, "fail 1 no"}, turns(1)...), ""},
		{"forgotten", append([]string{"user x", `call 1 Bash {"command":"a"}`, "back 1 " + fileA1}, turns(3)...), "2 stale"},
		{"forgotten for 30 responses", append([]string{"user x", `call 1 Bash {"command":"a"}`, "back 1 " + fileA1}, calls(30)...), "2 stale"},
		{"forgotten for 29 responses", append([]string{"user x", `call 1 Bash {"command":"a"}`, "back 1 " + fileA1}, calls(29)...), ""},
		{"forgotten for two turns", append([]string{"user x", `call 1 Bash {"command":"a"}`, "back 1 " + fileA1}, turns(2)...), ""},
		{"named since", append([]string{"user x", "call 1 " + readA, "back 1 " + fileA1, "said I shall see to a.go."}, turns(3)...), ""},
		{"used since", append([]string{"user x", `call 1 Bash {"command":"a"}`, "back 1 " + fileA1, `call 2 Edit {"file_path":"/b","old_string":"func old() is still here and does things"}`, "back 2 ok"}, turns(3)...), "4 stale"},
		{"a picture of long ago", append([]string{"user x", "image", "said a cat"}, turns(2)...), "1 binary"},
		{"a picture of 10 responses ago", append([]string{"user x", "image"}, calls(10)...), "1 binary"},
		{"a picture of 9 responses ago", append([]string{"user x", "image"}, calls(9)...), ""},
		{"a picture of now", append([]string{"user x", "image", "said a cat"}, turns(1)...), ""},
		{"thoughts of before", append([]string{"user x", "think", "said a cat"}, turns(2)...), "1 thinking"},
		{"thoughts of the last turn", append([]string{"user x", "think", "said a cat"}, turns(1)...), ""},
		{"thoughts of this turn", append([]string{"user x", "think"}, calls(30)...), ""},
		{"the same result, too short", []string{"user x", `call 1 Bash {"command":"a"}`, "back 1 ok, all 12 tests passed", `call 2 Bash {"command":"b"}`, "back 2 ok, all 12 tests passed"}, ""},
		{"the one that holds a duplicate", append([]string{"user x", `call 1 Bash {"command":"a"}`, "back 1 " + fileA1, `call 2 Bash {"command":"b"}`, "back 2 " + fileA1}, turns(4)...), "2 duplicate"},
		{"quoted in a thought", append([]string{"user x", `call 1 Bash {"command":"a"}`, "back 1 " + fileA1, "think so func old() is still here and does things"}, calls(30)...), ""},
		{"quoted beside a result", append([]string{"user x", `call 1 Bash {"command":"a"}`, "back 1 " + fileA1, "aside func old() is still here and does things"}, calls(30)...), ""},
		{"system prompts", append([]string{"system " + fileA1, "system " + fileA1, "user x"}, append(turns(4), calls(30)...)...), ""},
		{"the user's own words", append([]string{"user " + fileA1, "said so", "user " + fileA1, "aside " + fileA1, "aside " + fileA1}, append(turns(4), calls(30)...)...), ""},
		{"what the model or the host said", append([]string{"user x", "said " + fileA1, "host " + fileA1, "said " + fileA1, "host " + fileA1}, append(turns(4), calls(30)...)...), ""},
		{"a call without its result", append([]string{"user x", "call 1 " + readA}, turns(4)...), ""},
		{"a result without its call", append([]string{"user x", "back 1 " + fileA1}, turns(4)...), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, it := range Find(Conversation{Parts: talk(tt.conv...)}).Items {
				got = append(got, fmt.Sprint(it.Part, " ", it.Kind))
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("got %q, want %q", strings.Join(got, ", "), tt.want)
			}
		})
	}
}

// A stale result frees at least 200 tokens, anything else at least 32.
func TestLeast(t *testing.T) {
	stale := talk(append([]string{"user x", `call 1 Bash {"command":"a"}`, "back 1 " + fileA1}, turns(3)...)...)
	failed := talk(append([]string{"user x", `call 1 Bash {"command":"a"}`, "fail 1 no"}, turns(2)...)...)
	for _, tt := range []struct {
		parts              []Part
		part, tokens, want int
	}{{stale, 2, 210, 1}, {stale, 2, 209, 0}, {failed, 1, 42, 1}, {failed, 1, 41, 0}} {
		tt.parts[tt.part].Tokens = tt.tokens
		if got := Find(Conversation{Parts: tt.parts}).Items; len(got) != tt.want {
			t.Errorf("%d tokens: %+v", tt.tokens, got)
		}
	}
}

// Nothing that the caller protects, and nothing that has gone already, is in a plan.
func TestFixed(t *testing.T) {
	for _, protect := range []func(*Part){func(p *Part) { p.Fixed = true }, func(p *Part) { p.Cleared = true }} {
		parts := talk(append([]string{"user x", "image", "think", "call 1 " + readA, "back 1 " + fileA1, `call 2 Write {"file_path":"/src/a.go"}`, "fail 2 no", "call 3 " + readA, "back 3 " + fileA1}, turns(4)...)...)
		if found := Find(Conversation{Parts: parts}).Items; len(found) != 4 {
			t.Fatalf("unprotected: %+v", found)
		}
		for i := range parts {
			protect(&parts[i])
		}
		if found := Find(Conversation{Parts: parts}).Items; len(found) != 0 {
			t.Errorf("protected: %+v", found)
		}
	}
}

func TestLetsThinkingGo(t *testing.T) {
	for model, want := range map[string]bool{
		"claude-opus-4-6": true, "us.anthropic.claude-sonnet-5-v1:0": true, "anthropic/claude-opus-5-5": false,
		"claude-fable-5-1-20261001": false, "gpt-5": false, "gemini-3-pro": false, "": false,
	} {
		if LetsThinkingGo(model) != want {
			t.Errorf("%q: %t", model, !want)
		}
	}
}

func TestBulky(t *testing.T) {
	parts := talk(append([]string{"user x", `call 1 Bash {"command":"a"}`, "back 1 " + fileA1}, turns(1)...)...)
	for _, tt := range []struct{ tokens, window, want int }{{20_001, 200_000, 1}, {20_000, 200_000, 0}, {20_001, 0, 1}, {20_001, 1_000_000, 0}} {
		parts[2].Tokens = tt.tokens
		if got := Find(Conversation{Parts: parts, Window: tt.window}).Items; len(got) != tt.want || tt.want == 1 && got[0].Kind != Bulky {
			t.Errorf("%d of %d tokens: %v", tt.tokens, tt.window, got)
		}
	}
}

// A replaced read of 10,000 tokens, after 40,000 other tokens.
func TestAdvice(t *testing.T) {
	parts := talk("user x", "call 1 "+readA, "back 1 "+fileA1, `call 2 Write {"file_path":"/src/a.go"}`, "back 2 ok")
	parts[2].Tokens = 10_010
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	claude := PricesOf("", "claude-opus-4-6")
	var many []string
	for range 30 {
		many = append(many, "user go on", "said done")
	}
	for _, tt := range []struct {
		name string
		conv Conversation
		s    Situation
		want string
	}{
		{"nothing", Conversation{}, Situation{Prices: claude}, "Nothing to cut: no result is repeated, out of date, failed or forgotten."},
		// Once 2,010 tokens × 1.15 are written, and each request saves 10,000 × 0.1.
		{"pays", Conversation{Parts: append(talk(many...), parts...), Before: 40_000}, Situation{Prices: claude}, "Cutting now frees 10k and pays for itself after 3 turns."},
		{"waits", Conversation{Parts: append(parts, talk("user go on", "said done")...), Before: 40_000}, Situation{Prices: claude}, "Wait: 4.0k are cached and about 2 turns are left; cutting 10k would pay after 4."},
		{"cold", Conversation{Parts: parts}, Situation{Prices: claude, Now: now, LastResponse: now.Add(-2 * time.Hour)}, "Cutting now frees 10k and costs nothing: the cache expired 1 hour ago."},
		{"free to read", Conversation{Parts: parts}, Situation{Prices: Prices{CacheRead: 0, CacheWrite: 1, TTLSeconds: 300}}, "Wait: 2.0k are cached and about 1 turn is left; cutting 10k would never pay."},
		{"near a compaction", Conversation{Parts: append(talk(many...), parts...), Before: 40_000}, Situation{Prices: claude, CompactsAt: 115_000, Growth: 2_000}, "Cutting now frees 10k and puts off the compaction, which is 990 away."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Find(tt.conv).Report(0, tt.s).Advice; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPrices(t *testing.T) {
	for _, tt := range []struct {
		provider, model string
		read, write     float64
	}{
		{"", "claude-opus-4-6", 0.1, 1.25},
		{"", "us.anthropic.claude-opus-5-5-v1:0", 0.05, 1.25},
		{"", "anthropic/claude-fable-5-1", 0.025, 1.25},
		{"", "gpt-4o-mini", 0.5, 1},
		{"", "gpt-5.6-sol", 0.1, 1.25},
		{"", "gpt-5.1-codex", 0.1, 1},
		{"google", "", 0.1, 1},
		{"", "", 0.1, 1.25},
	} {
		if p := PricesOf(tt.provider, tt.model); p.CacheRead != tt.read || p.CacheWrite != tt.write || p.AsOf == "" || p.Source == "" {
			t.Errorf("%s %s: %+v", tt.provider, tt.model, p)
		}
	}
}

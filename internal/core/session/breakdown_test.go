package session

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var morning = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// response is an entry of an answer with the given input tokens.
func response(id string, input, output int, pieces ...Piece) Entry {
	return Entry{At: morning, Report: &Report{At: morning, MessageID: id, Tokens: input, Tuple: UsageTuple{Input: input, Output: output}}, Content: pieces}
}

func came(pieces ...Piece) Entry { return Entry{At: morning, Content: pieces} }

func breakdownOf(t interface{ Fatal(...any) }, model string, rules Rules, total int, entries ...Entry) Breakdown {
	c := contents{e: NewEstimator("", model, Calibration{}), rules: rules, countsOutput: rules.CountsOutput, cwd: "/p", maxPathLength: 300}
	for _, e := range entries {
		c.add(e)
	}
	b, ok := c.breakdown(total)
	if !ok {
		t.Fatal("no breakdown")
	}
	return b
}

// The breakdown of a window, with tokens computed by hand.
func TestBreakdown(t *testing.T) {
	prompt := came(Piece{Class: PromptText, Tokens: 100}) // 118 tokens
	read := func(id string) Piece {
		return Piece{Class: ToolCall, Tool: "Read", ToolClass: ReadTool, CallID: id, Path: "/p/a.go"}
	}
	gave := func(id string, tokens int) Entry {
		return came(Piece{Class: ToolResult, CallID: id, Tokens: tokens})
	}
	tests := []struct {
		name, model string
		rules       Rules
		total       int
		entries     []Entry
		want        string // parts, files, additions of the last turn
	}{
		{"the first response", "claude-opus-4-6", Rules{}, 20_118, []Entry{prompt, response("1", 20_118, 0)},
			"system 20000 user 118 | | 118"},
		{"the largest system prompt and tools", "claude-opus-4-6", Rules{}, 120_118, []Entry{prompt, response("1", 120_118, 0)},
			"system 120000 user 118 | | 118"},
		{"more than a system prompt and tools can be", "claude-opus-4-6", Rules{}, 143_118, []Entry{prompt, response("1", 143_118, 0)},
			"unaccounted 143000 user 118 | | 118"},
		{"what came after the last response is not in its figure", "claude-opus-4-6", Rules{}, 20_118,
			[]Entry{prompt, response("1", 20_118, 0, Piece{Class: AnswerText, Tokens: 500}), prompt}, "system 20000 user 118 | | 118"},
		{"a call, its result and their file", "claude-opus-4-6", Rules{}, 21_303,
			[]Entry{prompt, response("1", 20_118, 0, read("c")), gave("c", 1000), response("2", 21_303, 0)},
			"system 20000 user 118 calls 55 toolResult:Read 1130 | a.go 1185 | 1303"},
		{"nobody knows whose result", "claude-opus-4-6", Rules{}, 21_318, []Entry{prompt, response("1", 20_118, 0), gave("x", 1000), response("2", 21_318, 0)},
			"system 20000 user 118 toolResult 1200 | | 1318"},
		{"scaled to what was reported", "claude-opus-4-6", Rules{}, 20_236,
			[]Entry{prompt, response("1", 20_118, 0, Piece{Class: AnswerText, Tokens: 100}), response("2", 20_236, 0)}, "system 20000 user 118 assistant 118 | | 236"},
		{"what was said by its reported length", "claude-opus-4-6", Rules{}, 20_218,
			[]Entry{prompt, response("1", 20_118, 100, Piece{Class: AnswerText, Tokens: 500}), response("2", 20_218, 0)}, "system 20000 user 118 assistant 100 | | 218"},
		{"the rest of it was thought", "claude-opus-4-6", Rules{}, 21_118,
			[]Entry{prompt, response("1", 20_118, 1000, Piece{Class: Thought, Bytes: 300}, Piece{Class: AnswerText, Tokens: 100}), response("2", 21_118, 0)},
			"system 20000 user 118 assistant 118 thinking 882 | | 1118"},
		{"several lines of one response", "claude-opus-4-6", Rules{}, 21_118,
			[]Entry{prompt, response("1", 20_118, 3, Piece{Class: Thought, Bytes: 300}), response("1", 20_118, 1000, Piece{Class: AnswerText, Tokens: 100}), response("2", 21_118, 0)},
			"system 20000 user 118 assistant 118 thinking 882 | | 1118"},
		{"thoughts that the model is not given again", "claude-sonnet-4-5", Rules{}, 20_354,
			[]Entry{prompt, response("1", 20_118, 0, Piece{Class: Thought, Bytes: 5000}, Piece{Class: AnswerText, Tokens: 100}), prompt, response("2", 20_354, 0)},
			"system 20000 user 236 assistant 118 | | 118"},
		{"results that the host cleared", "claude-opus-4-6", Rules{}, 20_203,
			[]Entry{prompt, response("1", 20_118, 0, read("c")), gave("c", 1000), {Boundary: &Boundary{ID: "m", Micro: true, Cleared: []string{"c"}}}, response("2", 20_203, 0)},
			"system 20000 user 118 calls 55 toolResult:Read 30 | a.go 85 | 203"},
		{"far more than anything explains", "claude-opus-4-6", Rules{}, 50_000, []Entry{prompt, response("1", 20_118, 0), response("2", 50_000, 0)},
			"system 49853 user 147 | | 147"},
		{"less than the first response", "claude-opus-4-6", Rules{}, 10_059, []Entry{prompt, response("1", 20_118, 0), response("2", 10_059, 0)},
			"system 10000 user 59 | | 59"},
		{"memory, summary and what the host adds", "claude-opus-4-6", Rules{}, 20_354,
			[]Entry{came(Piece{Class: SummaryText, Tokens: 100}, Piece{Class: MemoryText, Tokens: 100, Path: "/p/CLAUDE.md"}, Piece{Class: InjectedText, Tokens: 100}), response("1", 20_354, 0)},
			"system 20000 memory 118 summary 118 injected 118 | CLAUDE.md 118 | none"},
		{"turns of a history without figures", "gpt-5.4", Rules{}, 20_324,
			[]Entry{prompt, came(Piece{Class: AnswerText, Tokens: 100}), prompt, response("1", 20_324, 0)}, "system 20000 user 216 assistant 108 | | 108"},
		{"an image", "claude-opus-4-6", Rules{}, 21_618, []Entry{prompt, came(Piece{Class: Image}), response("1", 21_618, 0)}, "system 20000 user 118 image 1500 | | 1618"},
		{"a host that counts the answer", "gpt-5.4", Rules{CountsOutput: true}, 20_308,
			[]Entry{prompt, response("1", 20_308, 200, Piece{Class: Thought}, Piece{Class: AnswerText, Tokens: 92})}, "system 20000 user 108 assistant 100 thinking 100 | | 308"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := breakdownText(breakdownOf(t, tt.model, tt.rules, tt.total, tt.entries...)); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func breakdownText(b Breakdown) string {
	text := ""
	for _, p := range b.Parts {
		name := string(p.Category)
		if p.Tool != "" {
			name += ":" + p.Tool
		}
		text += fmt.Sprintf("%s %d ", name, p.Tokens)
	}
	text += "| "
	for _, f := range b.Files {
		text += fmt.Sprintf("%s %d ", f.Path, f.Tokens)
	}
	if b.LastTurn == nil {
		return text + "| none"
	}
	return text + fmt.Sprintf("| %d", b.LastTurn.Tokens)
}

// The transcript may be ahead of the hooks, and may date a response a little later than the hook did.
func TestUpToTheGauge(t *testing.T) {
	at := func(seconds, input, output int) Entry {
		when := morning.Add(time.Duration(seconds) * time.Second)
		return Entry{At: when, Report: &Report{At: when, Tokens: input, Tuple: UsageTuple{Input: input, Output: output}}}
	}
	entries := []Entry{at(1, 100, 5), came(Piece{Class: PromptText}), at(3, 200, 5), came(Piece{Class: PromptText}), at(5, 300, 5)}
	for _, tt := range []struct {
		name    string
		seconds int
		recent  []UsageTuple
		want    int
	}{
		{"of the time of a response", 3, nil, 4},
		{"a moment before it", 2, []UsageTuple{{Input: 100}, {Input: 200}}, 4},
		{"of the response before", 2, []UsageTuple{{Input: 100}}, 2},
		{"of the last one", 4, []UsageTuple{{Input: 300}}, 5},
	} {
		g := Gauge{Known: true, At: morning.Add(time.Duration(tt.seconds) * time.Second), Recent: tt.recent}
		if got := len(upTo(entries, g)); got != tt.want {
			t.Errorf("%s: %d entries, want %d", tt.name, got, tt.want)
		}
	}
}

func TestNothingToBreakDown(t *testing.T) {
	c := contents{e: NewEstimator("", "claude-opus-4-6", Calibration{})}
	c.add(came(Piece{Class: PromptText, Tokens: 100}))
	c.add(response("1", 0, 0)) // a placeholder
	if b, ok := c.breakdown(1000); ok {
		t.Errorf("got %v", b)
	}
}

// For any conversation: the parts add up to the total, and the parts of the last turn to its growth. No part is negative
// or 0, the order is by category and size, and equal input gives equal output.
func TestBreakdownLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		model := rapid.SampledFrom([]string{"claude-opus-4-6", "claude-sonnet-4-5", "claude-opus-5", "gpt-5.4"}).Draw(rt, "model")
		rules := Rules{CountsOutput: rapid.Bool().Draw(rt, "counts output")}
		class := rapid.SampledFrom([]PieceClass{AnswerText, ToolCall, Thought, ToolResult, PromptText, InjectedText, MemoryText, SummaryText, Image})
		piece := rapid.Custom(func(rt *rapid.T) Piece {
			p := Piece{Class: class.Draw(rt, "class"), CallID: rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "id"), Path: rapid.SampledFrom([]string{"", "/p/a", "/q/b"}).Draw(rt, "path"),
				Tokens: rapid.IntRange(0, 100_000).Draw(rt, "tokens"), Bytes: rapid.IntRange(0, 10_000).Draw(rt, "bytes")}
			if p.Class == ToolCall || p.Class == ToolResult && rapid.Bool().Draw(rt, "named") {
				p.Tool = fmt.Sprintf("tool%d", rapid.IntRange(0, 80).Draw(rt, "tool"))
			}
			return p
		})
		entries := rapid.SliceOf(rapid.Custom(func(rt *rapid.T) Entry {
			e := came(rapid.SliceOfN(piece, 0, 30).Draw(rt, "pieces")...)
			switch rapid.IntRange(0, 4).Draw(rt, "kind") {
			case 0, 1:
				input := rapid.IntRange(0, 300_000).Draw(rt, "input")
				e.Report = response(rapid.SampledFrom([]string{"", "1", "2"}).Draw(rt, "message"), input, rapid.IntRange(0, min(input, 30_000)).Draw(rt, "output")).Report
			case 2:
				e.Boundary = &Boundary{ID: "m", Micro: true, Cleared: []string{"a"}}
			}
			return e
		})).Draw(rt, "entries")
		total := rapid.IntRange(1, 2_000_000).Draw(rt, "total")
		build := func() (Breakdown, bool) {
			c := contents{e: NewEstimator("", model, Calibration{}), rules: rules, countsOutput: rules.CountsOutput, cwd: "/p", maxPathLength: 300}
			for _, e := range entries {
				c.add(e)
			}
			return c.breakdown(total)
		}
		b, ok := build()
		if !ok {
			return
		}
		if again, _ := build(); !reflect.DeepEqual(b, again) {
			rt.Fatalf("twice the same gave\n%s\n%s", breakdownText(b), breakdownText(again))
		}
		checkParts := func(parts []Part, total int) {
			sum, tools := 0, 0
			for i, p := range parts {
				sum += p.Tokens
				if p.Tokens <= 0 {
					rt.Fatalf("%v of %d", p, p.Tokens)
				}
				if p.Category == CategoryResult {
					tools++
				}
				if i == 0 {
					continue
				}
				before := parts[i-1]
				if order(before.Category) > order(p.Category) || before.Category == p.Category && before.Tokens+1 < p.Tokens && p.Tool != otherTools {
					rt.Fatalf("%v before %v", before, p)
				}
			}
			if sum != total || tools > maxBreakdownTools+1 {
				rt.Fatalf("%d parts of %d tools add up to %d of %d", len(parts), tools, sum, total)
			}
		}
		checkParts(b.Parts, total)
		if b.LastTurn != nil {
			checkParts(b.LastTurn.Parts, b.LastTurn.Tokens)
			if b.LastTurn.Tokens < 0 || b.LastTurn.Tokens > total {
				rt.Fatalf("the last turn added %d of %d", b.LastTurn.Tokens, total)
			}
		}
		for _, f := range b.Files {
			if f.Tokens <= 0 || f.Tokens > total {
				rt.Fatalf("%v of %d", f, total)
			}
		}
	})
}

func order(c Category) int {
	for i, other := range Categories {
		if c == other {
			return i
		}
	}
	return -1
}

// The cost of a piece alone equals its cost in a tail.
func TestCostIsThatOfATail(t *testing.T) {
	e := NewEstimator("", "claude-opus-5", Calibration{})
	for _, p := range []Piece{
		{Class: AnswerText, Tokens: 70}, {Class: ToolCall, Tool: "Read", ToolClass: ReadTool, Tokens: 20}, {Class: Thought, Bytes: 1150}, {Class: ToolResult, Tool: "Grep", ToolClass: SearchTool, Tokens: 100},
		{Class: PromptText, Tokens: 9}, {Class: InjectedText, Tokens: 9}, {Class: MemoryText, Tokens: 9}, {Class: SummaryText, Tokens: 9}, {Class: Image},
	} {
		if got, want := e.Cost(p, p.ToolClass), e.Growth(after(p)); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %.2f alone, %.2f in a tail", p.Class, got, want)
		}
	}
}

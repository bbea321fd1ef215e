package session

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// after returns the tail of a response with 100,000 input tokens, followed by the given content.
func after(pieces ...Piece) Tail {
	return Tail{MessageID: "m", Input: 100_000}.Append(pieces)
}

// The cost of each class of content, with tokens computed by hand.
func TestGrowthByClass(t *testing.T) {
	classes := map[string]ToolClass{"Read": ReadTool, "Bash": ShellTool, "Grep": SearchTool, "Edit": EditTool, "Task": AgentTool, "shell": ShellTool}
	toolGave := func(tool string, tokens int) []Piece {
		return []Piece{{Class: ToolCall, Tool: tool, ToolClass: classes[tool], CallID: "c", Tokens: 100}, {Class: ToolResult, CallID: "c", Tokens: tokens}}
	}
	const call, result = 55 + 1.14*100, 30
	tests := []struct {
		name, model string
		tail        Tail
		want        float64
	}{
		{"nothing", "claude-opus-4-6", after(), 0},
		{"what the model said", "claude-opus-4-6", after(Piece{Class: AnswerText, Tokens: 100}), 118},
		{"what a person typed", "claude-opus-4-6", after(Piece{Class: PromptText, Tokens: 100}), 118},
		{"what the host added", "claude-opus-4-6", after(Piece{Class: InjectedText, Tokens: 100}), 118},
		{"reading", "claude-opus-4-6", after(toolGave("Read", 1000)...), call + result + 1100},
		{"running", "claude-opus-4-6", after(toolGave("Bash", 1000)...), call + result + 1200},
		{"searching", "claude-opus-4-6", after(toolGave("Grep", 1000)...), call + result + 1280},
		{"editing", "claude-opus-4-6", after(toolGave("Edit", 1000)...), call + result + 1080},
		{"a sub-agent", "claude-opus-4-6", after(toolGave("Task", 1000)...), call + result + 1170},
		{"a tool nobody knows", "claude-opus-4-6", after(toolGave("mcp__x__y", 1000)...), call + result + 1170},
		{"a result that names its tool", "claude-opus-4-6", after(Piece{Class: ToolResult, Tool: "Glob", ToolClass: SearchTool, Tokens: 100}), 30 + 128},
		{"an image", "claude-opus-4-6", after(Piece{Class: Image}), 1500},
		{"a thought", "claude-opus-4-6", after(Piece{Class: Thought, Bytes: 1150}), 205},
		{"thoughts too short to stand for anything", "claude-opus-4-6", after(Piece{Class: Thought, Bytes: 100}, Piece{Class: Thought}), 0},
		{"an answer whose length is reported", "claude-opus-4-6", Tail{Input: 1, Output: 500}.Append(append(toolGave("Read", 1000), Piece{Class: Thought, Bytes: 9000})), 500 + 10 + 1100},

		{"the newer tokenizer", "claude-opus-5", after(Piece{Class: PromptText, Tokens: 100}), 1.39 * 118},
		{"reading, in the newer", "claude-opus-5", after(Piece{Class: ToolResult, Tool: "Read", ToolClass: ReadTool, Tokens: 1000}), 30 + 1.39*1150},
		{"running, in the newer", "claude-opus-5", after(Piece{Class: ToolResult, Tool: "Bash", ToolClass: ShellTool, Tokens: 1000}), 30 + 1.39*1180},
		{"searching, in the newer", "claude-opus-5", after(Piece{Class: ToolResult, Tool: "Grep", ToolClass: SearchTool, Tokens: 1000}), 30 + 1.39*1220},
		{"what comes with a text and is not in it", "claude-opus-5", after(Piece{Class: InjectedText, Tokens: 100, Extra: 80}), 1.39*118 + 80},
		{"overhead does not grow with it", "claude-opus-5", after(Piece{Class: ToolCall, Tool: "Read", ToolClass: ReadTool, CallID: "c"}), 55},
		{"OpenAI", "gpt-5.4", after(append(toolGave("shell", 1000), Piece{Class: AnswerText, Tokens: 145}, Piece{Class: Thought, Bytes: 9000})...), 108 + 1008 + 153},
		{"Gemini", "gemini-2.5-pro", after(Piece{Class: PromptText, Tokens: 100}), 108},

		{"thoughts forgotten when a person speaks", "claude-sonnet-4-5", after(Piece{Class: Thought, Bytes: 1150}, Piece{Class: PromptText, Tokens: 100}), 118},
		{"with those of the whole turn", "claude-sonnet-4-5", Tail{Input: 1, Thinking: 1000}.Append([]Piece{{Class: PromptText}}), -1000},
		{"kept while tools run", "claude-sonnet-4-5", after(append(toolGave("Read", 0), Piece{Class: Thought, Bytes: 1150})...), call + result + 205},
		{"kept by a model that keeps them", "claude-opus-4-6", Tail{Input: 1, Thinking: 1000}.Append([]Piece{{Class: PromptText}}), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := NewEstimator("", tt.model, Calibration{}).Growth(tt.tail); math.Abs(got-tt.want) > 1e-6 {
				t.Errorf("got %.2f, want %.2f", got, tt.want)
			}
		})
	}
}

func TestPriors(t *testing.T) {
	for _, tt := range []struct {
		provider, model string
		k               float64
		drops           bool
	}{
		{"", "claude-opus-4-5-20251101", 1, false},
		{"", "claude-opus-4-20250514", 1, false},
		{"", "claude-opus-4-6[1m]", 1, false},
		{"", "claude-sonnet-4-6", 1, false},
		{"", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", 1, true},
		{"", "claude-haiku-4-5", 1, true},
		{"", "claude-3-5-sonnet-latest", 1, false},
		{"", "claude-opus-4-7", 1.39, false},
		{"", "claude-opus-4-8", 1.39, false},
		{"", "claude-sonnet-5", 1.39, false},
		{"", "claude-fable-5-1", 1.39, false},
		{"anthropic", "", 1.39, false},
		{"openai", "", 1, false},
		{"", "gpt-6-astra", 1, false},
		{"anthropic", "a-gateway's-own", 1, false},
	} {
		if e := NewEstimator(tt.provider, tt.model, Calibration{}); e.k != tt.k || e.drops != tt.drops {
			t.Errorf("%s %s: k %v, drops %v; want %v, %v", tt.provider, tt.model, e.k, e.drops, tt.k, tt.drops)
		}
	}
}

// The order of content does not matter, and more content never costs less. A range contains its estimate, reaches
// further up than down, and grows with the time since the last report.
func TestEstimateLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		model := rapid.SampledFrom([]string{"claude-opus-4-6", "claude-sonnet-4-5", "claude-opus-5", "gpt-5.4", ""}).Draw(rt, "model")
		e := NewEstimator("anthropic", model, Calibration{})
		pieces := rapid.SliceOfN(drawPiece(), 0, 12).Draw(rt, "pieces")
		growth := e.Growth(after(pieces...))
		if got := e.Growth(after(rapid.Permutation(pieces).Draw(rt, "order")...)); math.Abs(got-growth) > 1e-6 {
			rt.Fatalf("%v in one order, %v in another", growth, got)
		}
		if got := e.Growth(after(append(pieces, Piece{Class: ToolResult, Tokens: 1})...)); got <= growth {
			rt.Fatalf("more content costs less: %v, then %v", growth, got)
		}
		below, above := Margin(growth, 1)
		later, higher := Margin(growth, rapid.IntRange(2, 50).Draw(rt, "responses"))
		if below <= 0 || above <= below || later < below || higher <= above {
			rt.Fatalf("margins %d, %d, later %d, %d", below, above, later, higher)
		}
		g := Gauge{Known: true, Tokens: rapid.IntRange(0, 1_000_000).Draw(rt, "tokens"), Provenance: ProvenanceTranscript, Appended: int(growth)}
		if band, ok := g.Band(); ok != (g.Appended != 0) || ok && (band.Low > g.Projected() || band.High < g.Projected() || band.Low < 0) {
			rt.Fatalf("%+v of %d", band, g.Projected())
		}
	})
}

// drawPiece draws pieces with their tools, so that their order does not matter.
func drawPiece() *rapid.Generator[Piece] {
	return rapid.Custom(func(rt *rapid.T) Piece {
		p := Piece{
			Class:  rapid.SampledFrom([]PieceClass{AnswerText, ToolCall, Thought, ToolResult, InjectedText, Image}).Draw(rt, "class"),
			Tokens: rapid.IntRange(0, 5000).Draw(rt, "tokens"),
			Tool:   rapid.SampledFrom([]string{"Read", "Bash", "Edit", "mcp__x__y"}).Draw(rt, "tool"),
		}
		if p.Class == Thought {
			p.Tokens, p.Bytes = 0, rapid.IntRange(0, 9000).Draw(rt, "bytes")
		}
		return p
	})
}

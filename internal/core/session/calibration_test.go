package session

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// taught plays responses of a model whose real count is truth times claudeCosts, each after tool results of some tokens.
func taught(model string, truth float64, rng *rand.Rand, responses int) Calibration {
	c := Calibration{Model: model, Encoding: Encoding}
	for range responses {
		tokens := 200 + rng.IntN(3000)
		noise := 0.95 + 0.1*rng.Float64()
		tail := after(Piece{Class: ToolResult, Tool: "Read", ToolClass: ReadTool, Tokens: tokens})
		c, _ = c.Learn(tail, tail.Input+30+int(truth*noise*NewEstimator("", model, c).costs.results[ReadTool]*float64(tokens)), NewEstimator("", model, c))
	}
	return c
}

// For any initial value, k is within a tenth of the truth after ten responses, and within a fiftieth after sixty.
func TestKFollowsTheModel(t *testing.T) {
	for _, truth := range []float64{0.8, 1, 1.14, 1.33, 1.5} {
		for _, model := range []string{"claude-opus-4-6", "claude-opus-5"} {
			for responses, within := range map[int]float64{10: 0.1, 60: 0.02} {
				rng := rand.New(rand.NewPCG(1, uint64(responses)))
				c := taught(model, truth, rng, responses)
				if k := NewEstimator("", model, c).k; math.Abs(k-truth) > within*truth {
					t.Errorf("%s, really %v: k is %.3f after %d responses", model, truth, k, responses)
				}
			}
		}
	}
}

func TestOnlyTheLastFactorsCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	c := taught("claude-opus-5", 1.5, rng, 200)
	if len(c.Factors) != MaxFactors {
		t.Fatalf("%d factors are kept", len(c.Factors))
	}
	for range MaxFactors {
		tail := after(Piece{Class: ToolResult, Tool: "Read", ToolClass: ReadTool, Tokens: 1000})
		c, _ = c.Learn(tail, tail.Input+30+1265, NewEstimator("", "claude-opus-5", c))
	}
	if k := NewEstimator("", "claude-opus-5", c).k; math.Abs(k-1.1) > 1e-9 {
		t.Errorf("k is %v after the model changed", k)
	}
}

func TestWhatTeachesNothing(t *testing.T) {
	e := NewEstimator("", "claude-opus-4-6", Calibration{})
	read := func(tokens int) Tail {
		return after(Piece{Class: ToolResult, Tool: "Read", ToolClass: ReadTool, Tokens: tokens})
	}
	partial, first := read(1000), read(1000)
	partial.Partial, first.Input = true, 0
	final := Tail{Input: 100_000, Output: 900}.Append([]Piece{{Class: ToolCall, Tool: "Write", ToolClass: EditTool, Tokens: 800}, {Class: ToolResult, Tool: "Write", ToolClass: EditTool, Tokens: 10}})
	for _, tt := range []struct {
		name   string
		tail   Tail
		growth int
		taught bool
	}{
		{"what was expected", read(1000), 1130, true},
		{"a third more than expected", read(1000), 30 + 1100*4/3, true},
		{"just enough content", read(150), 195, true},
		{"too little content", read(149), 194, false},
		{"what the answer said does not count where its length is reported", final, 900 + 10 + 11, false},
		{"a rewind", read(1000), -5000, false},
		{"old results were cleared", read(1000), 300, false},
		{"a file that was not written down", read(1000), 20_000, false},
		{"a factor that no tokenizer has", read(160), 30 + 160*4, false},
		{"more than eight sigma off", read(10_000), 30 + 17_000, false},
		{"content that was not counted", partial, 1130, false},
		{"no response before", first, 1130, false},
		{"nothing at all", after(), 0, false},
	} {
		c := Calibration{Model: "claude-opus-4-6"}
		got, taught := c.Learn(tt.tail, tt.tail.Input+tt.growth, e)
		if taught != tt.taught || taught != (len(got.Factors) > 0) || len(c.Factors) > 0 {
			t.Errorf("%s: taught %v: %+v", tt.name, taught, got)
		}
	}
}

// A model behind a gateway may report reasoning as output without receiving it again. The size of the next request
// reveals this, for any model name, and later requests can revise it.
func TestReasoningThatIsNotSentBack(t *testing.T) {
	answer := Tail{Input: 100_000, Output: 1_500}.Append([]Piece{{Class: ToolCall, Tool: "Read", ToolClass: ReadTool, CallID: "c", Tokens: 100}, {Class: ToolResult, CallID: "c", Tokens: 400}})
	play := func(c Calibration, growths ...int) Calibration {
		for _, growth := range growths {
			c, _ = c.Learn(answer, answer.Input+growth, NewEstimator("", c.Model, c))
		}
		return c
	}
	for _, model := range []string{"glm-5", "claude-opus-5"} {
		e := NewEstimator("", model, Calibration{})
		sent := int(e.Growth(answer))
		e.unsent = true
		unsent := int(e.Growth(answer)) - 20
		if sent-unsent < 500 {
			t.Fatalf("%s: %d and %d are no test", model, sent, unsent)
		}
		c := play(Calibration{Model: model}, unsent, unsent, unsent, unsent)
		got := NewEstimator("", model, c).Growth(answer)
		if off := math.Abs(got-float64(unsent)) / float64(unsent); off > 0.2 {
			t.Errorf("%s: after four responses without their reasoning %.0f is expected of %d: %+v", model, got, unsent, c)
		}
		if c = play(Calibration{Model: model}, sent, sent, unsent, sent); NewEstimator("", model, c).unsent {
			t.Errorf("%s: one response among four settles it: %+v", model, c)
		}
		if c = play(Calibration{Model: model, Unsent: 8}, sent, sent, sent, sent, sent); NewEstimator("", model, c).unsent {
			t.Errorf("%s: what was learned stays for good: %+v", model, c)
		}
	}
}

// Whether a model keeps its thoughts after a user's prompt is learned for each model, whatever the initial assumption.
func TestThoughtsKeptOrForgotten(t *testing.T) {
	turn := Tail{Input: 100_000, Thinking: 900}.Append([]Piece{{Class: Thought, Bytes: 1150}, {Class: PromptText, Tokens: 500}})
	kept, forgotten := 590+205, 590-900
	play := func(model string, growths ...int) Calibration {
		c := Calibration{Model: model}
		for _, growth := range growths {
			c, _ = c.Learn(turn, turn.Input+growth, NewEstimator("", model, c))
		}
		return c
	}
	for _, tt := range []struct {
		model   string
		growths []int
		drops   bool
	}{
		{"claude-sonnet-4-5", nil, true},
		{"claude-sonnet-4-5", []int{kept, kept}, true},
		{"claude-sonnet-4-5", []int{kept, kept, kept}, false},
		{"claude-sonnet-4-5", []int{forgotten, kept, kept, kept}, true},
		{"claude-opus-4-6", nil, false},
		{"claude-opus-4-6", []int{forgotten, forgotten, forgotten}, false},
		{"claude-opus-4-6", []int{forgotten, forgotten, forgotten, forgotten}, true},
		{"claude-opus-4-6", []int{5000, 5000, 5000, 5000, -9000}, false}, // neither
	} {
		c := play(tt.model, tt.growths...)
		if e := NewEstimator("", tt.model, c); e.drops != tt.drops || len(c.Factors) > 0 {
			t.Errorf("%s after %v: drops %v, %+v", tt.model, tt.growths, e.drops, c)
		}
	}
	c := play("claude-opus-4-6", slices.Repeat([]int{forgotten}, 1000)...)
	if c = play("claude-opus-4-6", slices.Repeat([]int{kept}, 1000)...); c.Kept > maxTurns {
		t.Errorf("%d turns are remembered", c.Kept)
	}
}

// k lies between the learned values and the prior, in any order of learning. Learning does not change stored values,
// keeps them small and finite, and is deterministic.
func TestCalibrationLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := Calibration{Model: "claude-opus-5", Encoding: Encoding}
		for range rapid.IntRange(0, 80).Draw(rt, "responses") {
			tail := Tail{Input: rapid.IntRange(0, 200_000).Draw(rt, "input"), Output: rapid.SampledFrom([]int{0, 0, 400}).Draw(rt, "output"),
				Thinking: rapid.SampledFrom([]float64{0, 2000}).Draw(rt, "thought"), Partial: rapid.Bool().Draw(rt, "partial")}
			tail = tail.Append(rapid.SliceOfN(drawPiece(), 0, 4).Draw(rt, "pieces"))
			tail.Prompted = rapid.Bool().Draw(rt, "prompted")
			input := tail.Input + rapid.IntRange(-20_000, 20_000).Draw(rt, "growth")
			e, before := NewEstimator("", c.Model, c), fmt.Sprint(c)
			next, taught := c.Learn(tail, input, e)
			again, _ := c.Learn(tail, input, e)
			if diff := cmp.Diff(next, again); diff != "" || fmt.Sprint(c) != before || !taught && fmt.Sprint(next) != before {
				rt.Fatalf("learning the same again (-first +second):\n%s\nof %v, before %s", diff, c, before)
			}
			c = next
		}
		k := c.factor(1.33)
		lowest, highest := 1.33, 1.33
		for _, f := range c.Factors {
			lowest, highest = min(lowest, f.Value), max(highest, f.Value)
			if f.Value < minFactor || f.Value > maxFactor || f.Weight <= 0 || f.Weight > 1.2 {
				rt.Fatalf("learned %+v", f)
			}
		}
		if k < lowest || k > highest || len(c.Factors) > MaxFactors || c.Forgot+c.Kept > maxTurns {
			rt.Fatalf("k is %v of %+v", k, c)
		}
		shuffled := Calibration{Factors: rapid.Permutation(c.Factors).Draw(rt, "order")}
		if shuffled.factor(1.33) != k {
			rt.Fatalf("k is %v in one order, %v in another", k, shuffled.factor(1.33))
		}
	})
}

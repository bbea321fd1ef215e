package session

import (
	"math"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/model"
)

// Estimator turns what a conversation grew by into tokens of one model.
//
// Providers do not publish their tokenizers, but how their count follows from an open one has a simple structure: each
// class of content has its own factor, each call and result an overhead, a thought costs by the length of its signature,
// and what remains is one factor a model, k, which every response that is reported teaches anew (see Calibration).
type Estimator struct {
	costs  costs
	k      float64
	drops  bool // the model is not given its thoughts again after a person's next prompt
	unsent bool // its reported output holds reasoning that it is never given again
}

// costs says what content costs under one family of models, in tokens.
type costs struct {
	results            [toolClasses]float64 // per token of a tool's result
	call, prose        float64              // per token of arguments; of text
	perCall, perResult float64
	perKnownResult     float64 // what a result costs beside its text where its call's answer was reported complete
	perText            float64
	perImage           float64
	perSignedByte      float64 // of a thought
	unsignedBytes      int     // of each signature, that stand for nothing
}

// claudeCosts was fitted by least absolute deviations on 17,952 pairs of consecutive responses of 290 Claude Code sessions
// (Opus 4.5, Opus 4.6 and Sonnet 4.5, which agree within 3 %): the public repository entireio/cli, branch
// entire/checkpoints/v1, Claude Code 2.0.64 to 2.1.42. The cost of an image is the most that Anthropic's standard
// resolution takes, 1,568 tokens, rounded.
var claudeCosts = costs{
	results: [toolClasses]float64{OtherTool: 1.17, ReadTool: 1.10, ShellTool: 1.20, SearchTool: 1.28, EditTool: 1.08, AgentTool: 1.17},
	call:    1.14, prose: 1.18, perCall: 55, perResult: 30, perKnownResult: 10, perImage: 1500, perSignedByte: 0.205, unsignedBytes: 150,
}

// newerClaudeCosts are claudeCosts with the factors of results as the tokenizer of Opus 4.7 and later has them, and
// newerClaudeFactor its k. They were fitted on 178 sessions of ten public repositories (9,954 responses of Opus 4.6 to 5,
// Sonnet 5 and Fable 5, Claude Code up to 2.1.237), and so was perKnownResult: output_tokens holds most of what a call and its
// result cost beside their text.
var newerClaudeCosts = func() costs {
	c := claudeCosts
	c.results = [toolClasses]float64{OtherTool: 1.14, ReadTool: 1.15, ShellTool: 1.18, SearchTool: 1.22, EditTool: 1.08, AgentTool: 1.14}
	return c
}()

const newerClaudeFactor = 1.39

// openCosts holds for models whose tokenizer is an open one or close to it: in Codex and Gemini CLI sessions the count was
// right but for some 8 tokens an item.
var openCosts = costs{
	results: [toolClasses]float64{1, 1, 1, 1, 1, 1},
	call:    1, prose: 1, perCall: 8, perResult: 8, perKnownResult: 8, perText: 8, perImage: 1500,
}

// NewEstimator returns the estimator of a model, with what was learned about it so far. The provider tells the family of a
// model without a name.
func NewEstimator(provider, modelID string, learned Calibration) Estimator {
	plain := model.Plain(modelID)
	if !strings.HasPrefix(plain, "claude-") && (plain != "" || provider != "anthropic") {
		return Estimator{costs: openCosts, k: learned.factor(1), unsent: learned.unsent()}
	}
	e := Estimator{costs: newerClaudeCosts, k: learned.factor(newerClaudeFactor), drops: learned.drops(priorDrops(plain)), unsent: learned.unsent()}
	if isOlderClaude(plain) {
		e.costs, e.k = claudeCosts, learned.factor(1)
	}
	return e
}

// olderClaude are the models, by the start of their plain names, that came before the tokenizer of Opus 4.7.
var olderClaude = []string{
	"claude-2", "claude-3", "claude-instant", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-5", "claude-opus-4-6",
	"claude-sonnet-4", "claude-haiku-4",
}

// isOlderClaude reports whether a model, by its plain name, has the tokenizer that claudeCosts were fitted to.
func isOlderClaude(plain string) bool {
	return plain == "claude-opus-4" || slices.ContainsFunc(olderClaude, func(p string) bool { return strings.HasPrefix(plain, p) })
}

// priorDrops reports whether a model is taken to forget its thoughts once a person speaks: in the sessions of claudeCosts
// Sonnet 4.5 did at 94 of 97 turns, Opus 4.5 and 4.6 at 31 of 738.
func priorDrops(plain string) bool {
	return strings.HasPrefix(plain, "claude-sonnet-4-5") || strings.HasPrefix(plain, "claude-haiku-4-5")
}

// Growth returns how many tokens the tail has added to its response's input. It is negative where more was forgotten.
func (e Estimator) Growth(t Tail) float64 {
	fixed, content := e.parts(t)
	if e.drops {
		fixed -= e.forgotten(t)
	}
	return fixed + e.k*content
}

// Cost returns what one piece costs, in tokens. class is that of the tool whose result it is.
func (e Estimator) Cost(p Piece, class ToolClass) float64 {
	c, counted := e.costs, e.k*float64(p.Tokens)
	extra := float64(p.Extra)
	switch p.Class {
	case ToolCall:
		return c.perCall + c.call*counted + extra
	case ToolResult:
		return c.perResult + c.results[class]*counted + extra
	case Thought:
		if e.unsent {
			return 0
		}
		return e.thinking(Content{SignedBytes: p.Bytes, Signatures: 1})
	case Image:
		return c.perImage
	}
	return c.perText + c.prose*counted + extra
}

// parts splits growth, but for what was forgotten, into what k has no say in and what it multiplies.
func (e Estimator) parts(t Tail) (fixed, content float64) {
	c := e.costs
	perResult := c.perResult
	switch {
	case t.Output > 0 && !e.unsent:
		fixed, perResult = float64(t.Output), c.perKnownResult
	default:
		fixed, content = e.written(t.Answer)
		if !e.unsent {
			fixed += e.thinking(t.Answer)
		}
	}
	fixed += perResult*float64(t.Added.Results) + c.perText*float64(t.Added.Texts) + c.perImage*float64(t.Added.Images) + float64(t.Added.Extra)
	content += c.prose * float64(t.Added.PromptTokens)
	for class, n := range t.Added.ResultTokens {
		content += c.results[class] * float64(n)
	}
	return fixed, content
}

// written returns what an answer costs without its thoughts, split as by parts.
func (e Estimator) written(answer Content) (fixed, content float64) {
	c := e.costs
	fixed = c.perCall*float64(answer.Calls) + c.perText*float64(answer.Texts)
	return fixed, c.call*float64(answer.CallTokens) + c.prose*float64(answer.AnswerTokens)
}

// thinking returns what the thoughts of an answer cost. Their text, where it is shown at all, is a summary; the length of
// their signature is what follows the real one.
func (e Estimator) thinking(answer Content) float64 {
	return e.costs.perSignedByte * float64(max(0, answer.SignedBytes-e.costs.unsignedBytes*answer.Signatures))
}

// forgotten returns the tokens thought in the turn that a prompt ended, which some models are not given again.
func (e Estimator) forgotten(t Tail) float64 {
	if !t.Prompted {
		return 0
	}
	return t.Thinking + e.thinking(t.Answer)
}

// sigma is the usual error of a growth, in tokens.
func sigma(growth float64) float64 { return 25 + 0.06*math.Abs(growth) }

// Margin returns how far below and above the estimate the truth may lie, in tokens, after as many responses without a
// report. What goes wrong is one-sided: hosts add content that they do not write down, at the 90th percentile some 250
// tokens in one response and 1,500 in ten (the sessions of claudeCosts), while an estimate is hardly ever too high.
func Margin(growth float64, responses int) (below, above int) {
	s := int(math.Ceil(sigma(growth)))
	more := max(responses, 1) - 1
	return s + 60*more, s + 225 + 350*more
}

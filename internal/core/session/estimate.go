package session

import (
	"math"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/model"
)

// Estimator converts the growth of a conversation to tokens of one model.
//
// Providers do not publish their tokenizers. But their counts follow from an open tokenizer by a simple rule: each class of content has
// its own factor, each call and result has an overhead, and thinking costs by the length of its signature. One factor for the model
// remains, k. Every reported response refines it (see Calibration).
type Estimator struct {
	costs  costs
	k      float64
	drops  bool // the model does not get its earlier thinking again after the user's next prompt
	unsent bool // its reported output contains reasoning that it never gets again
}

// costs are the costs of content for one family of models, in tokens.
type costs struct {
	results            [toolClasses]float64 // per token of a tool's result
	call, prose        float64              // per token of arguments; of text
	perCall, perResult float64
	perKnownResult     float64 // the overhead of a result whose call has a complete report
	perText            float64
	perImage           float64
	perSignedByte      float64 // of a thought
	unsignedBytes      int     // of each signature, which stand for no thinking
}

// claudeCosts was fitted by least absolute deviations to 17,952 pairs of consecutive responses in 290 Claude Code sessions (Opus 4.5,
// Opus 4.6 and Sonnet 4.5, which agree within 3 %). They come from the public repository entireio/cli, branch entire/checkpoints/v1,
// Claude Code 2.0.64 to 2.1.42. The cost of an image is the maximum at Anthropic's standard resolution, 1,568 tokens, rounded.
var claudeCosts = costs{
	results: [toolClasses]float64{OtherTool: 1.17, ReadTool: 1.10, ShellTool: 1.20, SearchTool: 1.28, EditTool: 1.08, AgentTool: 1.17},
	call:    1.14, prose: 1.18, perCall: 55, perResult: 30, perKnownResult: 10, perImage: 1500, perSignedByte: 0.205, unsignedBytes: 150,
}

// newerClaudeCosts is claudeCosts with the factors of results for the tokenizer of Opus 4.7 and later, and newerClaudeFactor is its k.
// They were fitted to 178 sessions of ten public repositories (9,954 responses of Opus 4.6 to 5, Sonnet 5 and Fable 5, Claude Code up to
// 2.1.237). So was perKnownResult: output_tokens contains most of the overhead of a call and its result.
var newerClaudeCosts = func() costs {
	c := claudeCosts
	c.results = [toolClasses]float64{OtherTool: 1.14, ReadTool: 1.15, ShellTool: 1.18, SearchTool: 1.22, EditTool: 1.08, AgentTool: 1.14}
	return c
}()

const newerClaudeFactor = 1.39

// openCosts is for models with an open tokenizer or one close to it. In Codex and Gemini CLI sessions, the count was right except for
// about 8 tokens an item.
var openCosts = costs{
	results: [toolClasses]float64{1, 1, 1, 1, 1, 1},
	call:    1, prose: 1, perCall: 8, perResult: 8, perKnownResult: 8, perText: 8, perImage: 1500,
}

// NewEstimator returns the estimator of a model with what was learned about it. If the model has no name, the provider decides the
// family.
func NewEstimator(provider, modelID string, learned Calibration) Estimator {
	plain := model.Plain(modelID)
	if !strings.HasPrefix(plain, "claude-") && (plain != "" || provider != "anthropic") {
		return Estimator{costs: openCosts, k: learned.factor(1), unsent: learned.unsent()}
	}
	e := Estimator{costs: newerClaudeCosts, k: learned.factor(newerClaudeFactor), drops: learned.drops(priorDrops(plain)), unsent: learned.unsent()}
	if IsOlderClaude(plain) {
		e.costs, e.k = claudeCosts, learned.factor(1)
	}
	return e
}

// olderClaude are the prefixes of the plain names of models from before the tokenizer of Opus 4.7.
var olderClaude = []string{
	"claude-2", "claude-3", "claude-instant", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-5", "claude-opus-4-6",
	"claude-sonnet-4", "claude-haiku-4",
}

// IsOlderClaude reports whether a model has the tokenizer from before Opus 4.7, to which claudeCosts was fitted. It takes the plain name.
func IsOlderClaude(plain string) bool {
	return plain == "claude-opus-4" || slices.ContainsFunc(olderClaude, func(p string) bool { return strings.HasPrefix(plain, p) })
}

// priorDrops reports whether a model is assumed to lose its earlier thinking at a prompt of the user. In the sessions of claudeCosts,
// Sonnet 4.5 did in 94 of 97 turns, and Opus 4.5 and 4.6 in 31 of 738.
func priorDrops(plain string) bool {
	return strings.HasPrefix(plain, "claude-sonnet-4-5") || strings.HasPrefix(plain, "claude-haiku-4-5")
}

// Growth returns the tokens that the tail added to the input of its response. It is negative if more was forgotten.
func (e Estimator) Growth(t Tail) float64 {
	fixed, content := e.parts(t)
	if e.drops {
		fixed -= e.forgotten(t)
	}
	return fixed + e.k*content
}

// Cost returns the cost of one piece, in tokens. class is the class of the tool for a result.
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

// parts splits growth, without what was forgotten, into the part that k does not change and the part that k multiplies.
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

// written returns the cost of an answer without its thinking, split as by parts.
func (e Estimator) written(answer Content) (fixed, content float64) {
	c := e.costs
	fixed = c.perCall*float64(answer.Calls) + c.perText*float64(answer.Texts)
	return fixed, c.call*float64(answer.CallTokens) + c.prose*float64(answer.AnswerTokens)
}

// thinking returns the cost of an answer's thinking. The visible text, if any, is a summary; the length of the signature follows the
// real length.
func (e Estimator) thinking(answer Content) float64 {
	return e.costs.perSignedByte * float64(max(0, answer.SignedBytes-e.costs.unsignedBytes*answer.Signatures))
}

// forgotten returns the thinking tokens of the turn that a prompt ended. Some models do not get them again.
func (e Estimator) forgotten(t Tail) float64 {
	if !t.Prompted {
		return 0
	}
	return t.Thinking + e.thinking(t.Answer)
}

// sigma is the standard error of a growth, in tokens.
func sigma(growth float64) float64 { return 25 + 0.06*math.Abs(growth) }

// marginShare is the part of the range that grows with the estimate. It was chosen so that 95 % of the 9,828 growths of ten public
// repositories (see newerClaudeCosts) lie in the range; with the 6 % of sigma it was 93 %.
const marginShare = 0.1

// Margin returns how far below and above the estimate the true value may lie, in tokens, after that many responses without a report. The
// error is one-sided: hosts add content that they do not record, about 250 tokens in one response and 1,500 in ten (90th percentile, in
// the sessions of claudeCosts). An estimate is rarely too high.
func Margin(growth float64, responses int) (below, above int) {
	s := int(math.Ceil(25 + marginShare*math.Abs(growth)))
	more := max(responses, 1) - 1
	return s + 60*more, s + 225 + 350*more
}

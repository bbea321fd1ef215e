package session

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Breakdown describes what fills a session's window, in tokens. The provider reports only Tokens. ctxls estimates the other figures from
// the host's record, and scales them to Tokens.
type Breakdown struct {
	// Tokens is the occupancy at the last response, as in Usage. Parts add up to it. It is null if the breakdown is not known; Why then
	// gives the reason as a sentence.
	Tokens   *int       `json:"tokens"`
	Why      string     `json:"why,omitempty"`
	AsOf     *time.Time `json:"asOf"`     // when that response was made
	Parts    []Part     `json:"parts"`    // in the order of Categories, tools by size; no part is 0
	Files    []FilePart `json:"files"`    // the largest first, at most MaxBreakdownFiles; the parts include them
	LastTurn *Growth    `json:"lastTurn"` // the growth since the last turn began; null if no turn has begun since the last compaction
	// Request tells what CategorySystem holds, by the host's own record of the last request. It is absent if the host keeps none.
	Request *RequestShare `json:"request,omitempty"`
}

// Part is one share of a window.
type Part struct {
	Category Category `json:"category"`
	Tool     string   `json:"tool,omitempty"` // of a result, sanitised; "" where the call is not on record
	Tokens   int      `json:"tokens"`
}

// FilePart is the share of one file: all calls and results about it.
type FilePart struct {
	Path   string `json:"path"` // as it may be shown
	Tokens int    `json:"tokens"`
}

// Growth is the share of a window that was added since a time, and its parts, which add up to it.
type Growth struct {
	Since  time.Time `json:"since"`
	Tokens int       `json:"tokens"`
	Parts  []Part    `json:"parts"`
}

// Category is the kind of content in a part of a window.
type Category string

// The categories.
const (
	CategorySystem Category = "system" // system prompt, tools, and everything that no record explains
	// CategoryUnknown replaces CategorySystem if that share is larger than a system prompt with its tools can be.
	CategoryUnknown   Category = "unaccounted"
	CategoryMemory    Category = "memory"     // memory files, if the host records them
	CategorySummary   Category = "summary"    // the summary of a compaction
	CategoryInjected  Category = "injected"   // added by the host
	CategoryUser      Category = "user"       // what a person typed
	CategoryAssistant Category = "assistant"  // what the model said
	CategoryThinking  Category = "thinking"   // what it thought
	CategoryCalls     Category = "calls"      // arguments of its calls
	CategoryResult    Category = "toolResult" // what a tool gave back
	CategoryImage     Category = "image"      // images and documents from any source
)

// Categories lists the categories in the order of parts.
var Categories = []Category{
	CategorySystem, CategoryUnknown, CategoryMemory, CategorySummary, CategoryInjected, CategoryUser, CategoryAssistant, CategoryThinking,
	CategoryCalls, CategoryResult, CategoryImage,
}

var categoryOf = map[PieceClass]Category{
	AnswerText: CategoryAssistant, ToolCall: CategoryCalls, Thought: CategoryThinking, ToolResult: CategoryResult,
	PromptText: CategoryUser, InjectedText: CategoryInjected, MemoryText: CategoryMemory, SummaryText: CategorySummary, Image: CategoryImage,
}

// Bounds of a breakdown.
const (
	MaxBreakdownFiles = 20
	maxBreakdownTools = 50      // the name of the part that sums up further tools
	otherTools        = "other" // what they are called
	// maxSystemTokens is the largest plausible size of a system prompt with its tools. The largest published one has 118,000 tokens, of
	// which 98,700 are definitions of MCP tools (https://github.com/anthropics/claude-code/issues/13717).
	maxSystemTokens = 120_000
	// maxScaleUp bounds by how much the estimates may be scaled up. If more is missing, the window holds something that no record shows,
	// and the rest counts as CategorySystem. The error of one response is below this bound in 99 % of cases.
	maxScaleUp = 1.25
)

// item is one piece of a conversation with its estimated size.
type item struct {
	part   Part
	path   string
	callID string
	weight float64 // tokens, before scaling
	turn   int     // the number of turns that had begun; 0 is before the first turn
	answer int     // the number of the response that it belongs to; 0 is none
}

// contents is a conversation since its last compaction, with estimated sizes. Entries are added in their order.
type contents struct {
	e             Estimator
	rules         Rules
	countsOutput  bool // the total includes the answer of the last response
	cwd           string
	maxPathLength int

	items    []item
	calls    map[string]Piece // by ID, for the tool and the path of their results
	began    []time.Time      // when each turn did
	prompted bool             // no response has come since the last turn began
	response int              // the number of responses
	last     Report           // of the last response, with the largest output that was reported
	baseline float64          // the part of the first input that the record does not explain
	asOf     time.Time
	reported int // the number of items before the last response
}

// add adds one entry. Its pieces are counted already.
func (c *contents) add(en Entry) {
	if en.Report != nil {
		c.report(*en.Report)
	}
	if b := en.Boundary; b != nil && b.Micro {
		c.clear(b.Cleared)
	}
	for _, p := range en.Content {
		c.append(p, en.At)
	}
}

func (c *contents) report(rep Report) {
	if rep.Tokens <= 0 {
		return
	}
	c.prompted = false
	if c.response > 0 && rep.MessageID == c.last.MessageID && (rep.MessageID != "" || rep.Tuple == c.last.Tuple) {
		c.last.Tuple.Output = max(c.last.Tuple.Output, rep.Tuple.Output)
		return
	}
	c.fitResponse()
	c.response, c.last, c.asOf, c.reported = c.response+1, rep, rep.At, len(c.items)
	if c.response > 1 {
		return
	}
	without := false
	c.baseline = float64(rep.Occupancy(settings.UsageConfig{CountCacheWrites: true, CountOutput: &without}, c.rules))
	for _, it := range c.items {
		c.baseline -= it.weight
	}
	c.baseline = max(c.baseline, 0)
}

// fitResponse scales the parts of the last response to its reported output, if there is one. The estimate of text and calls is good, so
// they are fitted first; the rest of the output is thinking.
func (c *contents) fitResponse() {
	output := float64(c.last.Tuple.Output)
	if output <= 0 {
		return
	}
	said, thought, thoughts := 0.0, 0.0, 0.0
	for _, it := range c.items[c.reported:] {
		switch {
		case it.answer != c.response:
		case it.part.Category == CategoryThinking:
			thought, thoughts = thought+it.weight, thoughts+1
		default:
			said += it.weight
		}
	}
	scale, rest := 1.0, max(output-said, 0)
	if said > output || thoughts == 0 && said > 0 {
		scale, rest = output/said, 0
	}
	for i := range c.items[c.reported:] {
		it := &c.items[c.reported+i]
		switch {
		case it.answer != c.response:
		case it.part.Category != CategoryThinking:
			it.weight *= scale
		case thought > 0:
			it.weight *= rest / thought
		default:
			it.weight = rest / thoughts
		}
	}
}

func (c *contents) append(p Piece, at time.Time) {
	it := item{part: Part{Category: categoryOf[p.Class]}, path: p.Path, callID: p.CallID}
	class := p.ToolClass
	switch p.Class {
	case AnswerText, Thought:
		it.answer, c.prompted = c.response, false
	case ToolCall:
		it.answer, c.prompted = c.response, false
		if c.calls == nil {
			c.calls = map[string]Piece{}
		}
		c.calls[p.CallID] = Piece{Tool: p.Tool, ToolClass: p.ToolClass, Path: p.Path}
	case ToolResult:
		call := c.calls[p.CallID]
		if p.Tool == "" {
			p.Tool, class = call.Tool, call.ToolClass
		}
		it.path, it.part.Tool = cmp.Or(p.Path, call.Path), text.Sanitize(p.Tool, text.MaxLabel)
	case PromptText:
		if !c.prompted {
			c.prompted, c.began = true, append(c.began, at)
			c.forget()
		}
	}
	it.weight, it.turn = c.e.Cost(p, class), len(c.began)
	c.items = append(c.items, it)
}

// forget removes the thinking of earlier turns, for a model that does not get it again.
func (c *contents) forget() {
	if !c.e.drops {
		return
	}
	c.fitResponse()
	for i := range c.items {
		if c.items[i].part.Category == CategoryThinking {
			c.items[i].weight = 0
		}
	}
}

// clear removes the bodies of results that the host has cleared.
func (c *contents) clear(callIDs []string) {
	for i := range c.items {
		if it := &c.items[i]; it.part.Category == CategoryResult && it.callID != "" && slices.Contains(callIDs, it.callID) {
			it.weight = c.e.costs.perResult
		}
	}
}

// breakdown returns the contents of the window at the last response, for which tokens were reported. It returns false if there was no
// response.
func (c *contents) breakdown(tokens int) (Breakdown, bool) {
	if c.response == 0 || tokens <= 0 {
		return Breakdown{}, false
	}
	c.fitResponse()
	held := slices.Clone(c.items[:c.reported])
	if c.countsOutput {
		for _, it := range c.items[c.reported:] {
			if it.answer == c.response {
				held = append(held, it)
			}
		}
	}
	explained := 0.0
	for _, it := range held {
		explained += it.weight
	}
	scale := float64(tokens) / (c.baseline + explained)
	if free := float64(tokens) - c.baseline; free > 0 && explained > 0 {
		scale = min(free/explained, maxScaleUp)
	} else if explained == 0 {
		scale = 0
	}
	all, grown, files, turn := map[Part]float64{}, map[Part]float64{}, map[string]float64{}, 0
	for _, it := range held {
		turn = max(turn, it.turn)
	}
	for _, it := range held {
		weight := it.weight * scale
		all[it.part] += weight
		if it.turn == turn && turn > 0 {
			grown[it.part] += weight
		}
		if it.path != "" {
			files[ShowPath(it.path, c.cwd, c.maxPathLength)] += weight
		}
	}
	rest := max(float64(tokens)-explained*scale, 0)
	if rest > maxSystemTokens {
		all[Part{Category: CategoryUnknown}] = rest
	} else {
		all[Part{Category: CategorySystem}] = rest
	}
	b := Breakdown{Tokens: &tokens, AsOf: &c.asOf, Parts: shares(all, tokens), Files: fileParts(files)}
	if turn > 0 {
		sum := 0.0
		for _, weight := range grown {
			sum += weight
		}
		since := min(int(sum+1e-6), tokens) // the sum of fractions may be slightly too low
		b.LastTurn = &Growth{Since: c.began[turn-1], Tokens: since, Parts: shares(grown, since)}
	}
	return b, true
}

// shares converts weights to parts whose sum is exactly total. Each weight is rounded down. The remaining tokens go to the parts that
// lost the most by rounding.
func shares(weights map[Part]float64, total int) []Part {
	type share struct {
		Part
		lost float64
	}
	byTool := func(a, b share) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.lost, a.lost), cmp.Compare(a.Tool, b.Tool))
	}
	var all []share
	for part, weight := range weights {
		part.Tokens = int(weight)
		all = append(all, share{part, weight - float64(part.Tokens)})
	}
	slices.SortFunc(all, func(a, b share) int {
		return cmp.Or(cmp.Compare(slices.Index(Categories, a.Category), slices.Index(Categories, b.Category)), byTool(a, b))
	})
	first := slices.IndexFunc(all, func(s share) bool { return s.Category == CategoryResult })
	last := first
	for last >= 0 && last < len(all) && all[last].Category == CategoryResult {
		last++
	}
	if n := last - first; n > maxBreakdownTools {
		rest := share{Part: Part{Category: CategoryResult, Tool: otherTools}}
		for _, s := range all[first+maxBreakdownTools : last] {
			rest.Tokens, rest.lost = rest.Tokens+s.Tokens, rest.lost+s.lost
		}
		rest.Tokens, rest.lost = rest.Tokens+int(rest.lost), rest.lost-math.Floor(rest.lost)
		all = slices.Replace(all, first+maxBreakdownTools, last, rest)
	}
	left := total
	for _, s := range all {
		left -= s.Tokens
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].lost, all[a].lost) })
	for i := 0; left > 0 && len(order) > 0; i, left = i+1, left-1 {
		all[order[i%len(order)]].Tokens++
	}
	for i := 0; left < 0; i++ { // the sum of fractions may be one token too high
		if s := &all[order[len(order)-1-i%len(order)]]; s.Tokens > 0 {
			s.Tokens, left = s.Tokens-1, left+1
		}
	}
	parts := make([]Part, 0, len(all))
	for _, s := range all {
		if s.Tokens > 0 {
			parts = append(parts, s.Part)
		}
	}
	return parts
}

// fileParts returns the largest files.
func fileParts(weights map[string]float64) []FilePart {
	files := make([]FilePart, 0, len(weights))
	for path, weight := range weights {
		if tokens := int(math.Round(weight)); tokens > 0 {
			files = append(files, FilePart{path, tokens})
		}
	}
	slices.SortFunc(files, func(a, b FilePart) int { return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Path, b.Path)) })
	return files[:min(len(files), MaxBreakdownFiles)]
}

// upTo returns the entries up to the response that the gauge shows. The transcript may be further than the last hook. If the figure came
// by a hook first, the transcript may date that response a little later.
func upTo(entries []Entry, g Gauge) []Entry {
	shown := false
	for i, e := range entries {
		if e.Report == nil || !e.Report.At.After(g.At) {
			continue
		}
		tuple := e.Report.Tuple
		tuple.Output = 0
		if shown || len(g.Recent) == 0 || tuple != g.Recent[len(g.Recent)-1] {
			return entries[:i]
		}
		shown = true
	}
	return entries
}

// BreakDown returns what fills the window of a stored session. entries are those of its transcript in their order, with counted pieces.
// It returns false if the entries contain no response.
func BreakDown(st State, cfg settings.Config, entries []Entry) (Breakdown, bool) {
	e := st.Session
	c := contents{e: NewEstimator(e.Provider, e.Model, st.Calibration), cwd: e.CWD, maxPathLength: cfg.Compaction.MaxPathLength, rules: st.Rules, countsOutput: st.Rules.CountsOutput}
	if chosen := cfg.Usage.CountOutput; chosen != nil {
		c.countsOutput = *chosen
	}
	for _, en := range upTo(entries, e.Gauge) {
		c.add(en)
	}
	return c.breakdown(e.Gauge.Tokens)
}

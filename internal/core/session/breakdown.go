package session

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Breakdown is what fills a session's window, in tokens. Every figure but Tokens is worked out by ctxls: what the host
// recorded, by the estimator's weights, scaled to what the provider reported.
type Breakdown struct {
	// Tokens is what the window held for the last response, as Usage has it, and what Parts add up to; null where what
	// fills the window is not known. Why then says for what reason, to people.
	Tokens   *int       `json:"tokens"`
	Why      string     `json:"why,omitempty"`
	AsOf     *time.Time `json:"asOf"`     // when that response was made
	Parts    []Part     `json:"parts"`    // in the order of Categories, tools by their size; none is 0
	Files    []FilePart `json:"files"`    // the largest first, at most MaxBreakdownFiles; they are within the parts
	LastTurn *Growth    `json:"lastTurn"` // what grew it; null where no turn has begun since the last compaction
}

// Part is one share of a window.
type Part struct {
	Category Category `json:"category"`
	Tool     string   `json:"tool,omitempty"` // of a result, sanitised; "" where the call is not on record
	Tokens   int      `json:"tokens"`
}

// FilePart is what one file takes, by all calls and results that are about it.
type FilePart struct {
	Path   string `json:"path"` // as it may be shown
	Tokens int    `json:"tokens"`
}

// Growth is the share of a window that has come since a time, with its parts, which add up to it.
type Growth struct {
	Since  time.Time `json:"since"`
	Tokens int       `json:"tokens"`
	Parts  []Part    `json:"parts"`
}

// Category says what a part of a window is.
type Category string

// The categories.
const (
	CategorySystem Category = "system" // system prompt, tools, and all else that no record explains
	// CategoryUnknown stands in place of CategorySystem where that would exceed what a system prompt and tools can be.
	CategoryUnknown   Category = "unaccounted"
	CategoryMemory    Category = "memory"     // memory files, where the host records them
	CategorySummary   Category = "summary"    // what a compaction left of the conversation before it
	CategoryInjected  Category = "injected"   // what the host added by itself
	CategoryUser      Category = "user"       // what a person typed
	CategoryAssistant Category = "assistant"  // what the model said
	CategoryThinking  Category = "thinking"   // what it thought
	CategoryCalls     Category = "calls"      // arguments of its calls
	CategoryResult    Category = "toolResult" // what a tool gave back
	CategoryImage     Category = "image"      // images and documents, whoever brought them
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
	maxBreakdownTools = 50      // further ones are summed up as otherTools
	otherTools        = "other" // what they are called
	// maxSystemTokens is how large a system prompt with its tools can be. The largest that was published has 118,000 tokens, 98,700
	// of them definitions of MCP tools (https://github.com/anthropics/claude-code/issues/13717).
	maxSystemTokens = 120_000
	// maxScaleUp is how much too low the estimate of all content is taken to be at most: beyond, something is in the window
	// that no record shows, and it stays with CategorySystem. The 99th percentile of one response's error lies below.
	maxScaleUp = 1.25
)

// item is one piece of a conversation and what it weighs.
type item struct {
	part   Part
	path   string
	callID string
	weight float64 // tokens, before they are scaled
	turn   int     // how many turns had begun; 0 is before the first
	answer int     // the number of the response that it is a part of; 0 is none
}

// contents is a conversation since its last compaction, weighed. Entries are added in their order.
type contents struct {
	e             Estimator
	rules         Rules
	countsOutput  bool // the total counts the answer of the last response
	cwd           string
	maxPathLength int

	items    []item
	calls    map[string]Piece // by id, for tool and path of their results
	began    []time.Time      // when each turn did
	prompted bool             // nothing was answered since the last turn began
	response int              // how many responses there have been
	last     Report           // of the last one, with the most output that was reported
	baseline float64          // what the first one was given and nothing on record explains
	asOf     time.Time
	reported int // how many items came before the last response
}

// add takes one entry, whose pieces are counted.
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

// fitResponse scales the parts of the last response to the output that was reported for it, if any was. Its text can be weighed
// well, so what it said and called comes first, and what remains was thought.
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

// forget takes out the thoughts of earlier turns, for a model that is not given them again.
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

// clear takes out the bodies of results that the host has cleared.
func (c *contents) clear(callIDs []string) {
	for i := range c.items {
		if it := &c.items[i]; it.part.Category == CategoryResult && it.callID != "" && slices.Contains(callIDs, it.callID) {
			it.weight = c.e.costs.perResult
		}
	}
}

// breakdown returns what the window held for the last response, which tokens were reported for. It is false where there
// was no response.
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
		since := min(int(sum+1e-6), tokens) // sums of fractions may come out a little too low
		b.LastTurn = &Growth{Since: c.began[turn-1], Tokens: since, Parts: shares(grown, since)}
	}
	return b, true
}

// shares turns weights into parts that add up to the total exactly: each takes what it weighs, rounded down, and what is
// then left goes to those that lost the most by it.
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
	for i := 0; left < 0; i++ { // sums of fractions may come out a token too high
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

// upTo returns the entries without the responses that were made after a gauge's figure, and what came after them: the
// transcript may be further than the last hook. The response that the gauge shows may be dated a little later there, where
// its figure came by a hook first.
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

// BreakDown returns what fills the window of a stored session, given the entries of its transcript in their order and with
// their pieces counted. It is false where none of them is a response.
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

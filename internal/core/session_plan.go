package core

import (
	"context"
	"slices"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Plan says what can go of a conversation. Without a window in the request, that of the model counts, where one is known.
func (s *Service) Plan(ctx context.Context, req conversation.PlanRequest, cwd string) (plan.Report, error) {
	req.Now = s.Now()
	if req.WindowTokens == nil && req.Model != "" {
		w, err := s.modelWindow(ctx, session.HostGeneric, req.Provider, req.Model, s.Config(cwd), session.Rules{})
		if err != nil {
			return plan.Report{}, err
		}
		if w.Provenance != model.WindowFromDefault {
			req.WindowTokens = &w.Tokens
		}
	}
	return s.Meter.Plan(req)
}

// SessionPlanRequest asks what can go of a session, by the host's record of it.
type SessionPlanRequest struct {
	Key          session.Key
	TargetTokens *int // as of a conversation.PlanRequest
	KeepLast     *int // responses of the model
	Prices       *plan.PriceOptions
	Progress     func(done, total int64) // how far the record is read; may be nil
}

// keepResponses is how many of the newest responses a plan of a session leaves alone by default.
const keepResponses = 4

// placeholderTokens is about what a placeholder takes.
const placeholderTokens = 15

// SessionPlan says what can go of a session's window. It reads the host's record back to the last compaction, which may take
// seconds. Where the host keeps none, or nothing is known of the window, the error carries CodeNotFound and says why.
func (s *Service) SessionPlan(ctx context.Context, req SessionPlanRequest) (plan.Report, error) {
	st, view, err := s.loaded(ctx, req.Key)
	if err != nil {
		return plan.Report{}, err
	}
	how := planning{keep: keepResponses}
	if how.prices, err = req.Prices.Apply(plan.PricesOf(view.Provider, view.Model)); err != nil {
		return plan.Report{}, err
	}
	for _, n := range []struct {
		name string
		from *int
		to   *int
		low  int
	}{{"targetTokens", req.TargetTokens, &how.target, 1}, {"keepLast", req.KeepLast, &how.keep, 0}} {
		if n.from == nil {
			continue
		}
		if *n.from < n.low {
			return plan.Report{}, coded.Field(n.name, "expected a whole number, %d or above, got %d", n.low, *n.from)
		}
		*n.to = *n.from
	}
	rec := NewTranscript()
	b, why, err := s.breakdown(ctx, st, req.Progress, rec.addNewestFirst)
	switch {
	case err != nil:
		return plan.Report{}, err
	case why != "":
		return plan.Report{}, coded.Errorf(coded.NotFound, "%s", why)
	}
	return s.planOf(rec, st, view, b, how), nil
}

// planning is how a plan is made: the provider's prices, the newest responses to leave alone, and the tokens to get down to, or 0.
type planning struct {
	prices       plan.Prices
	keep, target int
}

// planOf makes the plan of a session whose record was collected for the breakdown b.
func (s *Service) planOf(rec *Transcript, st session.State, view SessionView, b session.Breakdown, how planning) plan.Report {
	situation := plan.Situation{Prices: how.prices, Now: s.Now(), LastResponse: *b.AsOf}
	if point := view.Usage.CompactionTokens; point != nil {
		situation.CompactsAt = *point
	}
	if growth := view.Usage.GrowthPerTurn; growth != nil {
		situation.Growth = *growth
	}
	slices.Reverse(rec.pieces)
	parts := rec.Parts(session.NewEstimator(st.Session.Provider, st.Session.Model, st.Calibration))
	before := fit(parts, b)
	ProtectNewest(parts, how.keep)
	found := plan.Find(plan.Conversation{Parts: parts, Before: before, Window: view.Usage.WindowTokens})
	limit := s.Config(st.Session.CWD).Compaction.MaxPathLength
	for i := range found.Items { // as in a breakdown
		where := &found.Items[i].Where
		where.Path = session.ShowPath(where.Path, st.Session.CWD, limit)
	}
	return found.Report(how.target, situation)
}

// Transcript collects the entries of a host's record, for a plan.
type Transcript struct {
	pieces          []recorded
	failed, cleared map[string]bool // calls
}

// recorded is one piece with its text. The piece itself is counted after it was collected.
type recorded struct {
	text  string
	piece *session.Piece
}

// NewTranscript returns an empty Transcript.
func NewTranscript() *Transcript {
	return &Transcript{failed: map[string]bool{}, cleared: map[string]bool{}}
}

// Add adds the next entry. Its pieces may be counted until Parts is called.
func (r *Transcript) Add(en session.Entry) {
	r.note(en)
	for i := range en.Content {
		r.pieces = append(r.pieces, recorded{en.Content[i].Text, &en.Content[i]})
	}
}

// addNewestFirst adds the entry before those that were added; the pieces are in reverse order then.
func (r *Transcript) addNewestFirst(en session.Entry) {
	r.note(en)
	for i := len(en.Content) - 1; i >= 0; i-- {
		r.pieces = append(r.pieces, recorded{en.Content[i].Text, &en.Content[i]})
	}
}

// note takes down which calls failed, and which results the host has cleared.
func (r *Transcript) note(en session.Entry) {
	for _, result := range en.Results {
		r.failed[result.CallID] = result.Failed
	}
	if b := en.Boundary; b != nil {
		for _, id := range b.Cleared {
			r.cleared[id] = true
		}
	}
}

var planClass = map[session.PieceClass]plan.Class{
	session.AnswerText: plan.Answer, session.ToolCall: plan.Call, session.Thought: plan.Thought, session.ToolResult: plan.Result,
	session.PromptText: plan.Prompt, session.InjectedText: plan.Injected, session.MemoryText: plan.Instructions,
	session.SummaryText: plan.Instructions, session.Image: plan.Media,
}

// Parts makes parts of what was collected, each with what the estimator takes it to cost.
func (r *Transcript) Parts(e session.Estimator) []plan.Part {
	classes := map[string]session.ToolClass{} // by call
	parts := make([]plan.Part, len(r.pieces))
	for i, p := range r.pieces {
		part := plan.Part{Class: planClass[p.piece.Class], Message: -1, Text: p.text, CallID: p.piece.CallID, Tool: p.piece.Tool, Path: p.piece.Path, Within: -1, Left: placeholderTokens}
		class := p.piece.ToolClass
		switch part.Class {
		case plan.Call:
			classes[part.CallID] = class
		case plan.Result:
			if p.piece.Tool == "" {
				class = classes[part.CallID]
			}
			part.Failed, part.Cleared = r.failed[part.CallID], r.cleared[part.CallID]
		case plan.Thought:
			part.Fixed = true // the host decides on it
		}
		part.Tokens = int(e.Cost(*p.piece, class))
		if part.Cleared {
			part.Tokens = placeholderTokens
		}
		parts[i] = part
	}
	return parts
}

// fit scales parts so that they add up to a breakdown, and returns what it has besides.
func fit(parts []plan.Part, b session.Breakdown) (before int) {
	sum := 0
	for _, p := range parts {
		sum += p.Tokens
	}
	for _, p := range b.Parts {
		if p.Category == session.CategorySystem {
			before = p.Tokens
		}
	}
	if sum > 0 {
		for i := range parts {
			parts[i].Tokens = int(float64(parts[i].Tokens) * float64(*b.Tokens-before) / float64(sum))
		}
	}
	return before
}

// ProtectNewest fixes what belongs to the newest responses.
func ProtectNewest(parts []plan.Part, keep int) {
	answering := false
	for i := len(parts) - 1; i >= 0 && keep > 0; i-- {
		made := parts[i].Class == plan.Answer || parts[i].Class == plan.Thought || parts[i].Class == plan.Call
		if answering && !made {
			if keep--; keep == 0 {
				return
			}
		}
		answering = made
		parts[i].Fixed = true
	}
}

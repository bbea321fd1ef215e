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

// keepResponses is how many of the newest responses a plan of a session leaves alone where nobody says otherwise.
const keepResponses = 4

// placeholderTokens is about what a placeholder takes.
const placeholderTokens = 15

// SessionPlan says what can go of a session's window. It reads the host's record back to the last compaction, which may take
// seconds. Where the host keeps none, or nothing is known of the window, the error carries CodeNotFound and says why.
func (s *Service) SessionPlan(ctx context.Context, req SessionPlanRequest) (plan.Report, error) {
	key, err := s.Resolve(ctx, req.Key)
	if err != nil {
		return plan.Report{}, err
	}
	st, err := s.seen().Load(ctx, Query{Key: key, Calibration: session.Encoding})
	if err != nil {
		return plan.Report{}, err
	}
	learned, err := s.Store.Windows(ctx)
	if err != nil {
		return plan.Report{}, err
	}
	view := s.views([]session.Snapshot{st.Snapshot}, learned)[0]
	prices, err := req.Prices.Apply(plan.PricesOf(view.Provider, view.Model))
	if err != nil {
		return plan.Report{}, err
	}
	target, keep := 0, keepResponses
	for _, n := range []struct {
		name string
		from *int
		to   *int
		low  int
	}{{"targetTokens", req.TargetTokens, &target, 1}, {"keepLast", req.KeepLast, &keep, 0}} {
		if n.from == nil {
			continue
		}
		if *n.from < n.low {
			return plan.Report{}, coded.Field(n.name, "expected a whole number, %d or above, got %d", n.low, *n.from)
		}
		*n.to = *n.from
	}
	if req.Progress == nil {
		req.Progress = func(int64, int64) {}
	}
	rec := record{failed: map[string]bool{}, cleared: map[string]bool{}}
	b, why, err := s.breakdown(ctx, st, req.Progress, rec.add)
	switch {
	case err != nil:
		return plan.Report{}, err
	case why != "":
		return plan.Report{}, coded.Errorf(coded.NotFound, "%s", why)
	}
	situation := plan.Situation{Prices: prices, Now: s.Now(), LastResponse: *b.AsOf}
	if point := view.Usage.CompactionTokens; point != nil {
		situation.CompactsAt = *point
	}
	if growth := view.Usage.GrowthPerTurn; growth != nil {
		situation.Growth = *growth
	}
	conv := rec.conversation(session.NewEstimator(st.Session.Provider, st.Session.Model, st.Calibration), b, keep)
	conv.Window = view.Usage.WindowTokens
	return plan.Find(conv).Report(target, situation), nil
}

// record collects a host's record, newest first.
type record struct {
	pieces          []recorded
	failed, cleared map[string]bool // calls
}

// recorded is one piece with its text. The piece itself is counted after it was collected.
type recorded struct {
	text  string
	piece *session.Piece
}

func (r *record) add(en session.Entry) {
	for _, result := range en.Results {
		r.failed[result.CallID] = result.Failed
	}
	if b := en.Boundary; b != nil {
		for _, id := range b.Cleared {
			r.cleared[id] = true
		}
	}
	for i := len(en.Content) - 1; i >= 0; i-- {
		r.pieces = append(r.pieces, recorded{en.Content[i].Text, &en.Content[i]})
	}
}

var planClass = map[session.PieceClass]plan.Class{
	session.AnswerText: plan.Answer, session.ToolCall: plan.Call, session.Thought: plan.Thought, session.ToolResult: plan.Result,
	session.PromptText: plan.Prompt, session.InjectedText: plan.Injected, session.MemoryText: plan.Instructions,
	session.SummaryText: plan.Instructions, session.Image: plan.Media,
}

// conversation makes parts of what was collected, and weighs them so that they add up to the breakdown.
func (r *record) conversation(e session.Estimator, b session.Breakdown, keep int) plan.Conversation {
	slices.Reverse(r.pieces)
	classes := map[string]session.ToolClass{} // by call
	parts, weights, sum := make([]plan.Part, len(r.pieces)), make([]float64, len(r.pieces)), 0.0
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
		parts[i], weights[i] = part, e.Cost(*p.piece, class)
		if part.Cleared {
			weights[i] = placeholderTokens
		}
		sum += weights[i]
	}
	before := 0
	for _, p := range b.Parts {
		if p.Category == session.CategorySystem {
			before = p.Tokens
		}
	}
	scale := 1.0
	if sum > 0 {
		scale = float64(*b.Tokens-before) / sum
	}
	for i := range parts {
		parts[i].Tokens = int(weights[i] * scale)
	}
	protect(parts, keep)
	return plan.Conversation{Parts: parts, Before: before}
}

// protect fixes what belongs to the newest responses.
func protect(parts []plan.Part, keep int) {
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

package rpc

import (
	"context"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/core/session"
)

// PlanParams are a conversation, or a session whose host keeps a record of it, to make a plan of.
type PlanParams struct {
	conversation.PlanRequest
	SessionID string       `json:"sessionId,omitzero"` // instead of messages, or with prune their session
	Host      session.Host `json:"host,omitzero"`      // needed only where two hosts have a session of that id
	// Prune asks, for OpenCode, what to leave out of the request that is about to be made of messages, and has it remembered for the session.
	// Nothing is left out unless the user has turned prune.enabled on.
	Prune bool `json:"prune,omitzero"`
	WorkDone
}

// PlanResult is a plan. With prune it is of what is new in this request.
type PlanResult struct {
	plan.Report
	Pruned []conversation.Pruned `json:"pruned,omitzero"` // with prune: what to leave out, in place of which texts
}

func (p *PlanParams) conversation() *conversation.Conversation { return &p.Conversation }

func (p *PlanParams) check() error {
	if p.SessionID == "" && !p.Prune {
		return nil
	}
	if p.Messages != nil && string(p.Messages) != "null" && !p.Prune {
		return invalid("sessionId", "expected either messages or a session, got both")
	}
	return checkName("sessionId", p.SessionID)
}

func (p *PlanParams) host() session.Host { return p.Host }

func (s *Server) contextPlan(ctx context.Context, p *PlanParams) (*PlanResult, error) {
	defer s.longWork(p.WorkDone, "planning")()
	if p.Prune {
		report, pruned, err := s.service.Prune(ctx, session.Key{Host: p.Host, SessionID: p.SessionID}, p.PlanRequest)
		return &PlanResult{report, pruned}, inParams(err)
	}
	report, err := s.plan(ctx, p)
	return &PlanResult{Report: report}, inParams(err)
}

func (s *Server) plan(ctx context.Context, p *PlanParams) (plan.Report, error) {
	if p.SessionID == "" {
		return s.service.Plan(ctx, p.PlanRequest, s.client.folder())
	}
	return s.service.SessionPlan(ctx, core.SessionPlanRequest{
		Key: session.Key{Host: p.Host, SessionID: p.SessionID}, TargetTokens: p.TargetTokens, KeepLast: p.KeepLast, Prices: p.Prices,
	})
}

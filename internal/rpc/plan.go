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
	SessionID string       `json:"sessionId,omitzero"` // instead of messages
	Host      session.Host `json:"host,omitzero"`      // needed only where two hosts have a session of that id
	WorkDone
}

func (p *PlanParams) conversation() *conversation.Conversation { return &p.Conversation }

func (p *PlanParams) check() error {
	if p.SessionID == "" {
		return nil
	}
	if p.Messages != nil {
		return invalid("sessionId", "expected either messages or a session, got both")
	}
	return checkName("sessionId", p.SessionID)
}

func (p *PlanParams) host() session.Host { return p.Host }

func (s *Server) contextPlan(ctx context.Context, p *PlanParams) (plan.Report, error) {
	defer s.longWork(p.WorkDone, "planning")()
	if p.SessionID == "" {
		report, err := s.service.Plan(ctx, p.PlanRequest, s.client.folder())
		return report, inParams(err)
	}
	report, err := s.service.SessionPlan(ctx, core.SessionPlanRequest{
		Key: session.Key{Host: p.Host, SessionID: p.SessionID}, TargetTokens: p.TargetTokens, KeepLast: p.KeepLast, Prices: p.Prices,
	})
	return report, inParams(err)
}

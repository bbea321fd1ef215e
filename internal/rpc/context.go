package rpc

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/conversation"
)

// MeasureParams is a conversation to count.
type MeasureParams struct {
	conversation.MeasureRequest
	WorkDone
}

func (p *MeasureParams) conversation() *conversation.Conversation { return &p.Conversation }

func (s *Server) contextMeasure(ctx context.Context, p *MeasureParams) (conversation.Measurement, error) {
	defer s.longWork(p.WorkDone, "measuring")()
	m, err := s.service.Measure(ctx, p.MeasureRequest, s.client.folder())
	return m, inParams(err)
}

// TrimParams is a conversation to trim.
type TrimParams struct {
	conversation.TrimRequest
	WorkDone
}

func (p *TrimParams) conversation() *conversation.Conversation { return &p.Conversation }

func (s *Server) contextTrim(ctx context.Context, p *TrimParams) (conversation.TrimResult, error) {
	defer s.longWork(p.WorkDone, "trimming")()
	result, err := s.service.Trim(ctx, p.TrimRequest, s.client.folder())
	return result, inParams(err)
}

// PrepareParams is a conversation that is about to be sent.
type PrepareParams struct {
	conversation.PrepareRequest
	SessionID string `json:"sessionId,omitzero"` // the session of the task, if its ID is not that of the task
	WorkDone
}

func (p *PrepareParams) conversation() *conversation.Conversation { return &p.Conversation }

func (p *PrepareParams) check() error {
	if p.SessionID != "" {
		if err := checkName("sessionId", p.SessionID); err != nil {
			return err
		}
	}
	return checkName("taskId", p.TaskID)
}

func (s *Server) contextPrepare(ctx context.Context, p *PrepareParams) (conversation.Prepared, error) {
	defer s.longWork(p.WorkDone, "preparing")()
	result, _, err := s.service.Prepare(ctx, p.PrepareRequest, p.SessionID, s.client.folder())
	return result, inParams(err)
}

package rpc

import (
	"context"

	"github.com/ctxls/ctxls/internal/core"
)

// MeasureParams are a conversation to count.
type MeasureParams struct {
	core.MeasureRequest
	WorkDone
}

func (p *MeasureParams) conversation() *core.Conversation { return &p.Conversation }

func (s *Server) contextMeasure(ctx context.Context, p *MeasureParams) (core.Measurement, error) {
	defer s.longWork(p.WorkDone, "measuring")()
	m, err := s.service.Measure(ctx, p.MeasureRequest, s.client.folder())
	return m, inParams(err)
}

// TrimParams are a conversation to trim.
type TrimParams struct {
	core.TrimRequest
	WorkDone
}

func (p *TrimParams) conversation() *core.Conversation { return &p.Conversation }

func (s *Server) contextTrim(ctx context.Context, p *TrimParams) (core.TrimResult, error) {
	defer s.longWork(p.WorkDone, "trimming")()
	result, err := s.service.Trim(ctx, p.TrimRequest, s.client.folder())
	return result, inParams(err)
}

// PrepareParams are a conversation that is about to be sent.
type PrepareParams struct {
	core.PrepareRequest
	SessionID string `json:"sessionId,omitzero"` // the session that it belongs to, where that is not the task's id
	WorkDone
}

func (p *PrepareParams) conversation() *core.Conversation { return &p.Conversation }

func (p *PrepareParams) check() error {
	if p.SessionID != "" {
		if err := checkName("sessionId", p.SessionID); err != nil {
			return err
		}
	}
	return checkName("taskId", p.TaskID)
}

func (s *Server) contextPrepare(ctx context.Context, p *PrepareParams) (core.Prepared, error) {
	defer s.longWork(p.WorkDone, "preparing")()
	result, _, err := s.service.Prepare(ctx, p.PrepareRequest, p.SessionID, s.client.folder())
	return result, inParams(err)
}

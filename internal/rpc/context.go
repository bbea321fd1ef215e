package rpc

import (
	"context"

	"github.com/ctxls/ctxls/internal/core"
)

func (s *Server) contextMeasure(ctx context.Context, p *core.MeasureRequest) (core.Measurement, error) {
	m, err := s.service.Measure(ctx, *p, s.client.folder())
	return m, inParams(err)
}

func (s *Server) contextTrim(ctx context.Context, p *core.TrimRequest) (core.TrimResult, error) {
	result, err := s.service.Trim(ctx, *p, s.client.folder())
	return result, inParams(err)
}

// PrepareParams are a conversation that is about to be sent.
type PrepareParams struct {
	core.PrepareRequest
	SessionID string `json:"sessionId,omitzero"` // the session that it belongs to, where that is not the task's id
}

func (p *PrepareParams) check() error {
	if len(p.SessionID) > maxName {
		return checkName("sessionId", p.SessionID)
	}
	return checkName("taskId", p.TaskID)
}

func (s *Server) contextPrepare(ctx context.Context, p *PrepareParams) (core.Prepared, error) {
	result, _, err := s.service.Prepare(ctx, p.PrepareRequest, p.SessionID, s.client.folder())
	return result, inParams(err)
}

package rpc

import (
	"context"

	"go.lsp.dev/jsonrpc2"

	"github.com/ctxls/ctxls/internal/core"
)

func (s *Server) contextMeasure(ctx context.Context, p *core.MeasureRequest) (core.Measurement, error) {
	m, err := s.service.Measure(ctx, *p, s.client.folder())
	return m, inParams(err)
}

// contextTrim returns the JSON of a core.TrimResult, whose messages keep their bytes.
func (s *Server) contextTrim(ctx context.Context, p *core.TrimRequest) (jsonrpc2.RawMessage, error) {
	result, err := s.service.Trim(ctx, *p, s.client.folder())
	if err != nil {
		return nil, inParams(err)
	}
	return result.AppendJSON(nil), nil
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

// contextPrepare returns the JSON of a core.Prepared, whose messages keep their bytes.
func (s *Server) contextPrepare(ctx context.Context, p *PrepareParams) (jsonrpc2.RawMessage, error) {
	result, _, err := s.service.Prepare(ctx, p.PrepareRequest, p.SessionID, s.client.folder())
	if err != nil {
		return nil, inParams(err)
	}
	return result.AppendJSON(nil), nil
}

package rpc

import (
	"context"

	"github.com/ctxls/ctxls/internal/core"
)

func (s *Server) stateInspect(ctx context.Context, _ *noParams) (core.Inspection, error) {
	return s.service.Inspect(ctx, core.Caller{Folders: s.client.workspace()})
}

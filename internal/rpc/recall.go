package rpc

import (
	"context"

	"github.com/ctxls/ctxls/internal/core"
)

// RecallParams say what to search for in the host's record of a session, before its last compaction.
type RecallParams struct {
	SessionRef
	Query     string `json:"query"`              // words, of which any may match; at most 1,000 characters
	Limit     *int   `json:"limit,omitzero"`     // lines, 1 to 100; absent is 10
	MaxTokens *int   `json:"maxTokens,omitzero"` // of all lines together, 1 to 50,000; absent is 2,000
}

func (p *RecallParams) check() error {
	if err := checkLimit(p.MaxTokens); err != nil {
		return invalid("maxTokens", "expected a whole number above 0, got %d", *p.MaxTokens)
	}
	if err := checkLimit(p.Limit); err != nil {
		return err
	}
	return p.SessionRef.check()
}

func (s *Server) sessionRecall(ctx context.Context, p *RecallParams) (*core.Recollection, error) {
	out, err := s.service.Recall(ctx, p.key(), core.RecallQuery{Query: p.Query, Limit: orZero(p.Limit), MaxTokens: orZero(p.MaxTokens)})
	return &out, inParams(err)
}

package rpc

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/survival"
)

// CompactionsParams say whose compactions to list.
type CompactionsParams struct {
	SessionID string       `json:"sessionId,omitzero"` // absent is the newest 50 sessions that were compacted
	Host      session.Host `json:"host,omitzero"`      // needed only if two hosts have a session with that ID; without one, only sessions of this host
	WorkDone
}

func (p *CompactionsParams) resolveSession(*Server) string { return p.SessionID }

func (p *CompactionsParams) host() session.Host { return p.Host }

func (p *CompactionsParams) check() error {
	if p.SessionID == "" {
		return nil
	}
	return checkName("sessionId", p.SessionID)
}

func (s *Server) sessionCompactions(ctx context.Context, p *CompactionsParams) (*survival.Listing, error) {
	defer s.longWork(p.WorkDone, "reading the records of compactions")()
	var list []survival.Entry
	var err error
	if p.SessionID != "" {
		list, err = s.service.Compactions(ctx, session.Key{Host: p.Host, SessionID: p.SessionID})
	} else {
		list, err = s.service.AllCompactions(ctx, p.Host)
	}
	if err != nil {
		return nil, inParams(err)
	}
	all := survival.LedgerOf(list)
	return &all, nil
}

package rpc

import (
	"context"
	"path/filepath"

	"github.com/ctxls/ctxls/internal/audit"
	"github.com/ctxls/ctxls/internal/contextfiles"
	"github.com/ctxls/ctxls/internal/core/session"
)

// AuditParams say what to audit.
type AuditParams struct {
	Dir    string       `json:"dir,omitzero"`    // absolute path of the directory where a session would start; without it, the client's first folder
	Host   session.Host `json:"host,omitzero"`   // one host; without it, those that have settings on this machine
	WhatIf []string     `json:"whatIf,omitzero"` // changes to assume: "rm FILE"
}

func (p *AuditParams) check() error {
	if p.Dir != "" && !filepath.IsAbs(p.Dir) {
		return invalid("dir", "expected an absolute path, got %q", p.Dir)
	}
	if p.Host != "" {
		return inParams(session.CheckHost(p.Host, contextfiles.Hosts))
	}
	return nil
}

func (s *Server) contextAudit(_ context.Context, p *AuditParams) (*audit.AuditReport, error) {
	dir := p.Dir
	if dir == "" {
		if dir = s.client.folder(); dir == "" {
			return nil, invalid("dir", "expected an absolute path: the client has no folder")
		}
	}
	o := s.options.Audit(dir)
	if p.Host != "" {
		o.Hosts = []session.Host{p.Host}
	}
	o.WhatIf = p.WhatIf
	report, err := audit.Run(o)
	return report, inParams(err)
}

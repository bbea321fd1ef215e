package rpc

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// SessionRef names a session. The params of every method about one session begin with it.
type SessionRef struct {
	SessionID string       `json:"sessionId"`     // the host's own id of it
	Host      session.Host `json:"host,omitzero"` // needed only if two hosts have a session with that ID
}

func (p *SessionRef) resolveSession(*Server) string { return p.SessionID }

func (p *SessionRef) check() error {
	return checkName("sessionId", p.SessionID)
}

func (p *SessionRef) host() session.Host { return p.Host }

func (p *SessionRef) key() session.Key { return session.Key{Host: p.Host, SessionID: p.SessionID} }

// checkName returns an error unless the member is a usable id.
func checkName(member, value string) error { return inParams(session.CheckID(member, value)) }

// ListParams select sessions. Without cwd and workspaceFolders, these are the sessions of the client's workspace, if it has open folders
// and did not ask for all sessions. An empty array of workspaceFolders selects everywhere.
type ListParams struct {
	Host             session.Host `json:"host,omitzero"`
	CWD              string       `json:"cwd,omitzero"`              // a path: sessions that work there or below
	WorkspaceFolders []Folder     `json:"workspaceFolders,omitzero"` // the same for several folders
	IncludeEnded     bool         `json:"includeEnded,omitzero"`
	Limit            *int         `json:"limit,omitzero"` // the maximum number, above 0; absent is all
}

func (p *ListParams) check() error {
	return checkLimit(p.Limit)
}

func (p *ListParams) host() session.Host { return p.Host }

// checkLimit returns an error for a limit that is set and not above 0.
func checkLimit(limit *int) error {
	if limit != nil && *limit < 1 {
		return invalid("limit", "expected a whole number above 0, got %d", *limit)
	}
	return nil
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// Folder is a folder as in LSP, {"uri": …}, or a string: a file URI or an absolute path.
type Folder struct{ path string }

// UnmarshalJSON reads either form.
func (f *Folder) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		var folder WorkspaceFolder
		if err := json.Unmarshal(data, &folder); err != nil || folder.URI == "" {
			return coded.Errorf(coded.Invalid, `expected {"uri": string} or a string, got %s`, transport.Shown(data))
		}
		text = folder.URI
	} else if !strings.Contains(text, "://") {
		f.path = text
		return nil
	}
	path, err := pathname.OfURI(text)
	f.path = path
	return err
}

// ListResult is a list of sessions, the most recently updated first.
type ListResult struct {
	Sessions    []core.SessionView `json:"sessions"`
	MaxSessions int                `json:"maxSessions"` // how many sessions are kept on this machine; older ones are dropped
}

func (s *Server) sessionList(ctx context.Context, p *ListParams) (*ListResult, error) {
	filter := core.SessionFilter{Host: p.Host, IncludeEnded: p.IncludeEnded, Limit: orZero(p.Limit)}
	for _, f := range p.WorkspaceFolders {
		filter.Folders = append(filter.Folders, f.path)
	}
	if p.CWD != "" {
		filter.Folders = append(filter.Folders, p.CWD)
	}
	if p.CWD == "" && p.WorkspaceFolders == nil {
		filter.Folders = s.client.scope()
	}
	sessions, err := s.service.Sessions(ctx, filter)
	return &ListResult{sessions, s.service.Config("").Store.MaxSessions}, err
}

// GetParams ask for one session.
type GetParams struct {
	SessionRef
	WorkDone
	Breakdown bool `json:"breakdown,omitzero"` // include what fills the window, which may take seconds
}

func (s *Server) sessionGet(ctx context.Context, p *GetParams) (core.SessionDetail, error) {
	if !p.Breakdown {
		view, err := s.service.Session(ctx, p.key())
		return core.SessionDetail{SessionView: view}, err
	}
	defer s.longWork(p.WorkDone, "reading the conversation")()
	return s.service.SessionBreakdown(ctx, p.key(), nil)
}

// HistoryParams ask for the points of a session's history.
type HistoryParams struct {
	SessionRef
	Limit *int `json:"limit,omitzero"` // only the newest points, above 0; absent is all that are kept
}

func (p *HistoryParams) check() error {
	if err := p.SessionRef.check(); err != nil {
		return err
	}
	return checkLimit(p.Limit)
}

// HistoryResult is the points, oldest first.
type HistoryResult struct {
	Samples []session.Sample `json:"samples"`
}

func (s *Server) sessionHistory(ctx context.Context, p *HistoryParams) (*HistoryResult, error) {
	samples, err := s.service.Samples(ctx, p.key(), orZero(p.Limit))
	return &HistoryResult{samples}, err
}

// CompactingResult is the content to keep through a compaction.
type CompactingResult struct {
	Context []string `json:"context"` // lines for the model that writes the summary; empty if there is nothing to keep
	Paths   []string `json:"paths"`   // the files in the lines
	Omitted int      `json:"omitted"` // the number of files that did not fit
}

func (s *Server) sessionCompacting(ctx context.Context, p *SessionRef) (*CompactingResult, error) {
	w, err := s.service.Compacting(ctx, p.key())
	return &CompactingResult{Context: w.Lines(), Paths: w.Paths, Omitted: w.Omitted}, err
}

// CompactedParams report a finished compaction.
type CompactedParams struct {
	SessionRef
	CompactedAt Moment `json:"compactedAt,omitzero"` // when; the same time again means the same compaction
	PostTokens  int    `json:"postTokens,omitzero"`  // the size afterwards, if the host reports it
	Summary     string `json:"summary,omitzero"`     // the text that replaced the conversation, if the host shows it
}

func (p *CompactedParams) check() error {
	if p.PostTokens < 0 || p.PostTokens > maxTokens {
		return invalid("postTokens", "expected a whole number from 0 to %d, got %d", maxTokens, p.PostTokens)
	}
	return p.SessionRef.check()
}

// maxTokens bounds amounts of tokens, as in the configuration: a thousand times the largest window in use.
const maxTokens = 1_000_000_000

// Moment is a time: an RFC 3339 string, or milliseconds since 1970.
type Moment struct{ time.Time }

// UnmarshalJSON reads either form.
func (m *Moment) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var ms int64
	if json.Unmarshal(data, &ms) == nil && ms > 0 {
		m.Time = time.UnixMilli(ms).UTC()
		return nil
	}
	var at time.Time
	if json.Unmarshal(data, &at) != nil || at.IsZero() {
		return coded.Errorf(coded.Invalid, `expected a time like "2026-11-21T09:30:00Z" or milliseconds since 1970, got %s`, transport.Shown(data))
	}
	m.Time = at.UTC()
	return nil
}

// CompactedResult is the session after the compaction.
type CompactedResult struct {
	Session   core.SessionView `json:"session"`
	LostPaths []string         `json:"lostPaths"` // files that the summary does not name; all of them without a summary
}

func (s *Server) sessionCompacted(ctx context.Context, p *CompactedParams) (*CompactedResult, error) {
	b := session.Boundary{At: p.CompactedAt.Time, PostTokens: p.PostTokens, Summary: p.Summary}
	if !b.At.IsZero() {
		b.ID = b.At.Format(time.RFC3339Nano)
	}
	session, lost, err := s.service.Compacted(ctx, p.key(), b)
	return &CompactedResult{session, lost}, err
}

// DeletedResult says whether there was anything to delete.
type DeletedResult struct {
	Deleted bool `json:"deleted"`
}

func (s *Server) sessionDeleted(ctx context.Context, p *SessionRef) (*DeletedResult, error) {
	deleted, err := s.service.Delete(ctx, p.key())
	return &DeletedResult{deleted}, err
}

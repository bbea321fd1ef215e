package rpc

import (
	"context"
	"time"

	"github.com/ctxls/ctxls/internal/lsp"
)

// languageMethods are those of the Language Server Protocol about documents. They are no part of ctxls's own protocol: a client
// learns of them from the capabilities. What changes a document runs at once, so that the requests behind it see the change.
var languageMethods = map[string]method{
	"textDocument/didOpen":            immediate((*Server).didOpen),
	"textDocument/didChange":          immediate((*Server).didChange),
	"textDocument/didClose":           immediate((*Server).didClose),
	"textDocument/didSave":            immediate((*Server).didSave),
	"workspace/didChangeWatchedFiles": immediate((*Server).didSave),
	"textDocument/codeLens":           request((*Server).codeLens),
	"textDocument/hover":              request((*Server).hover),
	"textDocument/inlayHint":          request((*Server).inlayHint),
	"textDocument/documentLink":       request((*Server).documentLink),
	"textDocument/documentSymbol":     request((*Server).documentSymbol),
	"textDocument/diagnostic":         request((*Server).diagnostic),
	"textDocument/codeAction":         request((*Server).codeAction),
}

// ClientCapabilities are LSP's, as far as they decide what ctxls offers: each feature is offered to clients that name it.
type ClientCapabilities struct {
	TextDocument struct {
		CodeLens           *struct{} `json:"codeLens,omitzero"`
		Hover              *struct{} `json:"hover,omitzero"`
		InlayHint          *struct{} `json:"inlayHint,omitzero"`
		DocumentLink       *struct{} `json:"documentLink,omitzero"`
		DocumentSymbol     *struct{} `json:"documentSymbol,omitzero"`
		Diagnostic         *struct{} `json:"diagnostic,omitzero"` // the client asks for diagnostics; else they are published
		PublishDiagnostics *struct{} `json:"publishDiagnostics,omitzero"`
		CodeAction         *struct{} `json:"codeAction,omitzero"`
	} `json:"textDocument,omitzero"`
}

// LanguageCapabilities are LSP's server capabilities about documents.
type LanguageCapabilities struct {
	TextDocumentSync       *SyncCapability       `json:"textDocumentSync,omitzero"`
	CodeLensProvider       *struct{}             `json:"codeLensProvider,omitzero"`
	HoverProvider          bool                  `json:"hoverProvider,omitzero"`
	InlayHintProvider      bool                  `json:"inlayHintProvider,omitzero"`
	DocumentLinkProvider   *struct{}             `json:"documentLinkProvider,omitzero"`
	DocumentSymbolProvider bool                  `json:"documentSymbolProvider,omitzero"`
	DiagnosticProvider     *DiagnosticCapability `json:"diagnosticProvider,omitzero"`
	CodeActionProvider     *CodeActionCapability `json:"codeActionProvider,omitzero"`
}

// SyncCapability is LSP's TextDocumentSyncOptions.
type SyncCapability struct {
	OpenClose bool `json:"openClose"`
	Change    int  `json:"change"` // 2: incremental
	Save      bool `json:"save"`
}

// DiagnosticCapability is LSP's DiagnosticOptions.
type DiagnosticCapability struct {
	Identifier            string `json:"identifier"`
	InterFileDependencies bool   `json:"interFileDependencies"`
	WorkspaceDiagnostics  bool   `json:"workspaceDiagnostics"`
}

// CodeActionCapability is LSP's CodeActionOptions.
type CodeActionCapability struct {
	CodeActionKinds []string `json:"codeActionKinds"`
}

// offer returns the capabilities about documents for a client.
func (s *Server) offer(c ClientCapabilities) (o LanguageCapabilities) {
	if s.language == nil {
		return o
	}
	t := c.TextDocument
	o.HoverProvider, o.InlayHintProvider, o.DocumentSymbolProvider = t.Hover != nil, t.InlayHint != nil, t.DocumentSymbol != nil
	if t.CodeLens != nil {
		o.CodeLensProvider = &struct{}{}
	}
	if t.DocumentLink != nil {
		o.DocumentLinkProvider = &struct{}{}
	}
	if t.CodeAction != nil {
		o.CodeActionProvider = &CodeActionCapability{[]string{"quickfix"}}
	}
	if t.Diagnostic != nil {
		o.DiagnosticProvider = &DiagnosticCapability{Identifier: "ctxls", InterFileDependencies: true}
	}
	publishes := t.Diagnostic == nil && t.PublishDiagnostics != nil
	s.publisher.enable(publishes)
	if publishes || o != (LanguageCapabilities{}) {
		o.TextDocumentSync = &SyncCapability{OpenClose: true, Change: 2, Save: true}
	}
	return o
}

func (s *Server) didOpen(_ context.Context, p *lsp.DocumentParams) (any, error) {
	defer s.publisher.wake()
	return nil, inParams(s.language.Open(p))
}

func (s *Server) didChange(_ context.Context, p *lsp.ChangeParams) (any, error) {
	defer s.publisher.wake()
	return nil, inParams(s.language.Change(p))
}

// didClose takes the defects of the document off the client's list.
func (s *Server) didClose(_ context.Context, p *lsp.DocumentParams) (any, error) {
	if s.publisher.enabled() {
		_ = s.Notify("textDocument/publishDiagnostics", lsp.PublishParams{URI: p.TextDocument.URI, Diagnostics: []lsp.Diagnostic{}})
	}
	return nil, inParams(s.language.Close(p))
}

func (s *Server) didSave(context.Context, *noParams) (any, error) {
	s.language.Touch()
	s.publisher.wake()
	return nil, nil
}

func (s *Server) codeLens(_ context.Context, p *lsp.DocumentParams) ([]lsp.CodeLens, error) {
	lenses, err := s.language.CodeLens(p)
	return lenses, inParams(err)
}

func (s *Server) hover(_ context.Context, p *lsp.PositionParams) (*lsp.Hover, error) {
	hover, err := s.language.Hover(p)
	return hover, inParams(err)
}

func (s *Server) inlayHint(_ context.Context, p *lsp.RangeParams) ([]lsp.InlayHint, error) {
	hints, err := s.language.Hints(p)
	return hints, inParams(err)
}

func (s *Server) documentLink(_ context.Context, p *lsp.DocumentParams) ([]lsp.DocumentLink, error) {
	links, err := s.language.Links(p)
	return links, inParams(err)
}

func (s *Server) documentSymbol(_ context.Context, p *lsp.DocumentParams) ([]lsp.DocumentSymbol, error) {
	symbols, err := s.language.Symbols(p)
	return symbols, inParams(err)
}

func (s *Server) diagnostic(_ context.Context, p *lsp.DocumentParams) (*lsp.DiagnosticReport, error) {
	items, err := s.language.Diagnostics(p.TextDocument.URI)
	return &lsp.DiagnosticReport{Kind: "full", Items: items}, inParams(err)
}

func (s *Server) codeAction(_ context.Context, p *lsp.RangeParams) ([]lsp.CodeAction, error) {
	actions, err := s.language.Actions(p)
	return actions, inParams(err)
}

// publishPause is how long the publisher waits for more changes: a person types faster than defects come and go.
const publishPause = 60 * time.Millisecond

// publisher publishes the defects of open documents after changes, for clients that do not ask for them.
type publisher struct {
	on    bool // set before the first document is opened
	woken chan struct{}
}

func (p *publisher) enable(on bool) { p.on = on }

func (p *publisher) enabled() bool { return p.on }

func (p *publisher) wake() {
	if !p.on {
		return
	}
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// publish runs until ctx ends.
func (s *Server) publish(ctx context.Context) {
	if s.language == nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.publisher.woken:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(publishPause):
		}
		for _, uri := range s.language.URIs() {
			items, err := s.language.Diagnostics(uri)
			if err != nil {
				s.log.Debug("a document could not be checked", "error", err)
				continue
			}
			_ = s.Notify("textDocument/publishDiagnostics", lsp.PublishParams{URI: uri, Diagnostics: items}) // the next change sends it again
		}
	}
}

package lsp

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/audit"
	"github.com/ctxls/ctxls/internal/contextfiles"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
)

// AuditCommand is the command of a lens. Clients run it with the directory of the audit as its argument.
const AuditCommand = "ctxls.audit"

// span returns the range of two offsets.
func (a *about) span(start, end int) Range {
	at := func(offset int) Position {
		line, column := contextfiles.LineColumn(a.text, offset)
		return Position{line, column}
	}
	return Range{at(start), at(end)}
}

// count writes a number of tokens, with ~ where the encoding is not the model's.
func count(n int, exact bool) string {
	if exact {
		return text.Thousands(n)
	}
	return "~" + text.Thousands(n)
}

// CodeLens says on the first line what the file costs.
func (s *Service) CodeLens(p *DocumentParams) ([]CodeLens, error) {
	a, err := s.look(p.TextDocument.URI)
	if a == nil || err != nil {
		return []CodeLens{}, err
	}
	title := a.title()
	if title == "" {
		return []CodeLens{}, nil
	}
	return []CodeLens{{Command: Command{Title: title, Command: AuditCommand, Arguments: []any{a.report.Dir}}}}, nil
}

// title says what a file costs: in full for the first host that loads it, the total for the others.
func (a *about) title() string {
	var said []string
	for _, s := range a.shares(a.path) {
		name := contextfiles.Titles[s.host.Host]
		total, exact := s.item.Total(), s.host.Exact
		switch {
		case s.item.When == contextfiles.Never:
			continue
		case a.below || s.item.When == contextfiles.OnRead:
			said = append(said, fmt.Sprintf("%s tokens in %s when a file it concerns is read", count(max(total, s.item.Tokens), exact), name))
			continue
		case len(said) > 0:
			said = append(said, fmt.Sprintf("%s in %s", count(total, exact), name))
			continue
		}
		line := fmt.Sprintf("%s tokens each session in %s", count(total, exact), name)
		if imports := imported(s.item); imports > 0 {
			line += fmt.Sprintf(" · %s of them imports", text.Thousands(imports))
		}
		said = append(said, line)
	}
	return strings.Join(said, " · ")
}

// imported returns the tokens of what a file imports.
func imported(item audit.AuditItem) (n int) {
	for _, child := range item.Items {
		if child.Inlined {
			n += child.Tokens
		} else {
			n += child.Total()
		}
	}
	return n
}

// Hints says behind each import what it costs, or why it is not loaded.
func (s *Service) Hints(p *RangeParams) ([]InlayHint, error) {
	hints := []InlayHint{}
	a, err := s.look(p.TextDocument.URI)
	if a == nil || err != nil {
		return hints, err
	}
	host, ok := a.importer()
	if !ok {
		return hints, nil
	}
	wrong := map[int]audit.Finding{}
	for _, f := range a.findings() {
		if f.Host == host {
			wrong[contextfiles.Offset(a.text, f.Start.Line-1, f.Start.Column-1)] = f
		}
	}
	for _, i := range contextfiles.Imports(a.env, host, a.path) {
		at := a.span(i.End, i.End).Start
		if at.Line < p.Range.Start.Line || at.Line > p.Range.End.Line {
			continue
		}
		hint := InlayHint{Position: at, PaddingLeft: true}
		if f, ok := wrong[i.Start]; ok && f.Code != contextfiles.LoadedTwice {
			hint.Label, hint.Tooltip = reasons[f.Code], f.Message
			if f.Fix != nil && strings.HasPrefix(a.text[f.Fix.Start:], ",") {
				hint.Label = "not loaded: trailing comma"
			}
		} else if child := a.child(i.Path, host); child != nil {
			hint.Label = count(max(child.Total(), child.Tokens), false)
		}
		if hint.Label != "" {
			hints = append(hints, hint)
		}
	}
	return hints, nil
}

// reasons are the hints of imports that are not loaded.
var reasons = map[contextfiles.Code]string{
	contextfiles.ImportMissing:     "not loaded: no such file",
	contextfiles.ImportPunctuation: "not loaded: punctuation",
	contextfiles.ImportTooDeep:     "not loaded: too deep",
	contextfiles.ImportCircular:    "loaded above",
	contextfiles.ImportOutside:     "not loaded: outside the project",
	contextfiles.ImportKind:        "not loaded: no text file",
	contextfiles.FileTooLarge:      "not loaded: too large",
	contextfiles.FileUnreadable:    "not loaded: not readable",
}

// child returns the item of an imported file in a host's load; nil where it is not loaded.
func (a *about) child(path string, host session.Host) *audit.AuditItem {
	for _, s := range a.shares(path) {
		if s.host.Host == host && s.item.When == contextfiles.AtStart {
			return &s.item
		}
	}
	return nil
}

// findings returns the defects of the file, once each: hosts that share a rule say the same of the same place.
func (a *about) findings() (all []audit.Finding) {
	for _, f := range a.report.Findings {
		if f.Path == a.path {
			all = append(all, f)
		}
	}
	return all
}

// Links leads from imports to their files.
func (s *Service) Links(p *DocumentParams) ([]DocumentLink, error) {
	links := []DocumentLink{}
	a, err := s.look(p.TextDocument.URI)
	if a == nil || err != nil {
		return links, err
	}
	host, ok := a.importer()
	if !ok {
		return links, nil
	}
	for _, i := range contextfiles.Imports(a.env, host, a.path) {
		if info, err := a.env.Files.Stat(i.Path); err == nil && info.Mode().IsRegular() {
			links = append(links, DocumentLink{a.span(i.Start, i.End), uriOf(i.Path)})
		}
	}
	return links, nil
}

// uriOf returns the URI of a path.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// markdownSymbol is the kind of a heading: LSP's String, as other servers of Markdown have it.
const markdownSymbol = 15

// Symbols returns the headings, each with its tokens.
func (s *Service) Symbols(p *DocumentParams) ([]DocumentSymbol, error) {
	a, err := s.look(p.TextDocument.URI)
	if a == nil || err != nil {
		return []DocumentSymbol{}, err
	}
	headings := contextfiles.Outline(a.env, a.path)
	symbols, _ := s.nest(a, headings, 0)
	return symbols, nil
}

// nest returns the symbols of the headings below a level, and what headings are left.
func (s *Service) nest(a *about, headings []contextfiles.Heading, level int) ([]DocumentSymbol, []contextfiles.Heading) {
	symbols := []DocumentSymbol{}
	for len(headings) > 0 && headings[0].Level > level {
		h := headings[0]
		name := text.Sanitize(h.Title, 200)
		if strings.TrimSpace(name) == "" {
			name = "#"
		}
		symbol := DocumentSymbol{Name: name, Detail: count(s.counts.Tokens(a.text[h.Start:h.End]), false) + " tokens", Kind: markdownSymbol,
			Range: a.span(h.Start, h.End), SelectionRange: a.span(h.Start, min(h.Line, h.End))}
		symbol.Children, headings = s.nest(a, headings[1:], h.Level)
		symbols = append(symbols, symbol)
	}
	return symbols, headings
}

// Diagnostics returns the defects of a document.
func (s *Service) Diagnostics(uri string) ([]Diagnostic, error) {
	all := []Diagnostic{}
	a, err := s.look(uri)
	if a == nil || err != nil {
		return all, err
	}
	for _, f := range a.findings() {
		all = append(all, diagnostic(f))
	}
	return all, nil
}

// severityWarning is LSP's: the file is valid, and is not loaded as it is meant.
const severityWarning = 2

func diagnostic(f audit.Finding) Diagnostic {
	return Diagnostic{Range: rangeOf(f), Severity: severityWarning, Code: string(f.Code), CodeDescription: &CodeDescription{f.URL}, Source: "ctxls",
		Message: contextfiles.Titles[f.Host] + ": " + f.Message}
}

func rangeOf(f audit.Finding) Range {
	return Range{Position{f.Start.Line - 1, f.Start.Column - 1}, Position{f.End.Line - 1, f.End.Column - 1}}
}

// Actions returns the changes that remove the defects of a range.
func (s *Service) Actions(p *RangeParams) ([]CodeAction, error) {
	actions := []CodeAction{}
	a, err := s.look(p.TextDocument.URI)
	if a == nil || err != nil {
		return actions, err
	}
	for _, f := range a.findings() {
		r := rangeOf(f)
		if f.Fix == nil || r.End.Line < p.Range.Start.Line || r.Start.Line > p.Range.End.Line {
			continue
		}
		edit := Edit{map[string][]TextEdit{p.TextDocument.URI: {{a.span(f.Fix.Start, f.Fix.End), f.Fix.NewText}}}}
		action := CodeAction{Title: text.Sanitize(f.Fix.Title, 100), Kind: "quickfix", Diagnostics: []Diagnostic{diagnostic(f)}, IsPreferred: true, Edit: edit}
		if !slices.ContainsFunc(actions, func(other CodeAction) bool {
			return other.Title == action.Title && sameEdit(other, action, p.TextDocument.URI)
		}) {
			actions = append(actions, action)
		}
	}
	return actions, nil
}

func sameEdit(a, b CodeAction, uri string) bool {
	return slices.Equal(a.Edit.Changes[uri], b.Edit.Changes[uri])
}

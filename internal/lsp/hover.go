package lsp

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ctxls/ctxls/internal/contextfiles"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Hover says of an import, or of the file where there is none, what each host makes of it.
func (s *Service) Hover(p *PositionParams) (*Hover, error) {
	a, err := s.look(p.TextDocument.URI)
	if a == nil || err != nil {
		return nil, err
	}
	offset := contextfiles.Offset(a.text, p.Position.Line, p.Position.Character)
	if host, ok := a.importer(); ok {
		for _, i := range contextfiles.Imports(a.env, host, a.path) {
			if i.Start <= offset && offset <= i.End {
				r := a.span(i.Start, i.End)
				return &Hover{Markup{"markdown", a.table(i.Path)}, &r}, nil
			}
		}
	}
	if p.Position.Line > 0 {
		return nil, nil
	}
	return &Hover{Contents: Markup{"markdown", a.table(a.path)}}, nil
}

// table says for each host what it makes of a file.
func (a *about) table(path string) string {
	var b strings.Builder
	name := path
	if rel, err := filepath.Rel(a.report.Dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		name = rel
	}
	fmt.Fprintf(&b, "**%s**\n\n", escape(name))
	shares := a.shares(path)
	if len(shares) == 0 {
		b.WriteString("No host loads it at the start of a session.\n")
	}
	for _, s := range shares {
		fmt.Fprintf(&b, "- %s: ", contextfiles.Titles[s.host.Host])
		switch {
		case s.item.When == contextfiles.Never:
			b.WriteString("not loaded: " + escape(s.item.Why))
		case s.item.When == contextfiles.OnRead:
			fmt.Fprintf(&b, "%s tokens, %s", count(s.item.Tokens, s.host.Exact), escape(s.item.Why))
		default:
			fmt.Fprintf(&b, "%s tokens", count(max(s.item.Total(), s.item.Tokens), s.host.Exact))
			if n := imported(s.item); n > 0 {
				fmt.Fprintf(&b, ", %s of them imports", text.Thousands(n))
			}
			fmt.Fprintf(&b, ", file %d of %s in %s", s.item.Order, s.part.Name, s.part.Where)
			if s.item.Cut {
				b.WriteString(", cut by the host")
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\nRules of ")
	for i, h := range a.report.Hosts {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(contextfiles.Titles[h.Host] + " " + h.RulesVersion)
	}
	b.WriteString(". ~ marks counts in another encoding than the model's.\n")
	return b.String()
}

// escape makes a text from outside safe in Markdown.
func escape(s string) string {
	s = text.Sanitize(s, 300)
	return strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;", "#", "\\#", "!", "\\!", "|", "\\|").Replace(s)
}

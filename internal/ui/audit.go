package ui

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/ctxls/ctxls/internal/audit"
	"github.com/ctxls/ctxls/internal/contextfiles"
)

// shownItems is how many files of one list are shown; the rest is summed up.
const shownItems = 30

// Audit writes what a session would hold before its first prompt. Paths are shortened from the directory and from home.
func Audit(w io.Writer, r *audit.AuditReport, home string, l Style) error {
	s := auditScreen{report: r, home: home, style: l}
	_, err := io.WriteString(w, s.text())
	return err
}

type auditScreen struct {
	report *audit.AuditReport
	home   string
	style  Style
}

func (s *auditScreen) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", s.style.paint(strong, "before the first prompt in "+s.path(s.report.Dir)))
	for _, change := range s.report.WhatIf {
		fmt.Fprintf(&b, "as if: %s\n", safe(change, 200))
	}
	for _, h := range s.report.Hosts {
		b.WriteString("\n" + s.host(h))
	}
	text := s.style.clamp(b.String())
	if len(s.report.Findings) > 0 { // not clamped: what is wrong must be readable
		text += "\n" + s.style.paint(strong, Count(len(s.report.Findings), "finding")) + "\n" + s.findings()
	}
	return text
}

// mark is "~" where a count is not exact.
func mark(exact bool) string {
	if exact {
		return ""
	}
	return "~"
}

func (s *auditScreen) host(h audit.HostAudit) string {
	var b strings.Builder
	line := contextfiles.Titles[h.Host] + "  " + mark(h.Exact) + tokens(h.Tokens) + " tokens"
	if h.WindowTokens != nil {
		line += fmt.Sprintf(" of %s, %d%%", tokens(*h.WindowTokens), *h.Percent)
	}
	if !h.Complete {
		line += ", and what is not known"
	}
	b.WriteString(s.style.paint(strong, line) + s.style.paint(faint, "  rules of "+h.RulesVersion) + "\n")
	var rows [][]cell
	for _, p := range h.Parts {
		figure := unknown
		if p.Tokens != nil {
			figure = mark(h.Exact) + tokens(*p.Tokens)
		}
		basis := map[audit.Basis]string{audit.BasisTable: "measured in " + h.RulesVersion, audit.BasisRecord: "as in the last request", audit.BasisUnknown: "not known"}[p.Basis]
		if p.Why != "" {
			basis = p.Why
		}
		rows = append(rows, []cell{{text: figure, right: true}, {text: safe(p.Name, 80)}, {text: safe(basis, 120), style: faint}})
		rows = append(rows, s.items(p.Items, h.Exact, "  ")...)
	}
	b.WriteString(s.style.grid(rows))
	return b.String()
}

func (s *auditScreen) items(items []audit.AuditItem, exact bool, indent string) (rows [][]cell) {
	for i, item := range items {
		if i == shownItems {
			rest := 0
			for _, other := range items[i:] {
				rest += other.Total()
			}
			return append(rows, []cell{{text: mark(exact) + tokens(rest), right: true, style: faint}, {text: indent + Count(len(items)-i, "more item"), style: faint}})
		}
		figure, note, style := mark(exact)+tokens(item.Tokens), safe(item.Why, 120), lipgloss.NewStyle()
		switch {
		case item.When == contextfiles.Never:
			figure, style = "–", faint
		case item.When == contextfiles.OnRead:
			figure, style = "("+figure+")", faint
		case item.Cut:
			note = "cut"
		}
		name := s.path(item.Path)
		if item.Name != "" {
			name = safe(item.Name, 60)
		}
		if item.Inlined {
			note = "put into the text above"
		}
		rows = append(rows, []cell{{text: figure, right: true, style: style}, {text: indent + name, style: style}, {text: note, style: faint}})
		rows = append(rows, s.items(item.Items, exact, indent+"  ")...)
	}
	return rows
}

func (s *auditScreen) findings() string {
	var b strings.Builder
	for _, f := range s.report.Findings {
		fmt.Fprintf(&b, "  %s:%d:%d  %s  %s: %s\n", s.path(f.Path), f.Start.Line, f.Start.Column, s.style.paint(levelStyles["warning"], string(f.Code)),
			contextfiles.Titles[f.Host], safe(f.Message, 500))
	}
	return b.String()
}

// path returns a path as users read it: from the audited directory, or with ~ for the home directory.
func (s *auditScreen) path(path string) string {
	for _, place := range []struct{ dir, as string }{{s.report.Dir, ""}, {s.home, "~" + string(filepath.Separator)}} {
		if rel, err := filepath.Rel(place.dir, path); err == nil && place.dir != "" && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return safe(place.as+rel, 200)
		}
	}
	return safe(path, 200)
}

package audit

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ctxls/ctxls/internal/contextfiles"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/core/token"
)

// Options say what to audit.
type Options struct {
	Env    contextfiles.Env
	Hosts  []session.Host // nil is all of contextfiles.Hosts
	WhatIf []string       // changes to assume: "rm FILE"
	// Recorded returns what a host's own records say of its requests; nil where there are none. It may be nil.
	Recorded func(host session.Host) *session.RequestRecord
	// Counts keeps the tokens of texts from one audit to the next; nil keeps none.
	Counts *Counts
}

// Run audits. The error has coded.Invalid for options that cannot be.
func Run(o Options) (*AuditReport, error) {
	env, err := o.assumed()
	if err != nil {
		return nil, err
	}
	if o.Counts == nil {
		o.Counts = NewCounts()
	}
	hosts := o.Hosts
	if hosts == nil {
		hosts = contextfiles.Hosts
	}
	report := &AuditReport{Dir: env.Dir, WhatIf: o.WhatIf, Findings: []Finding{}}
	if report.WhatIf == nil {
		report.WhatIf = []string{}
	}
	for _, name := range hosts {
		load, err := contextfiles.Read(env, name)
		if err != nil {
			return nil, coded.Field("host", "%w", err)
		}
		report.Hosts = append(report.Hosts, o.host(env, load))
		for _, f := range load.Findings {
			report.Findings = append(report.Findings, place(env.Files, f))
		}
	}
	slices.SortStableFunc(report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Start.Line, b.Start.Line), cmp.Compare(a.Start.Column, b.Start.Column), cmp.Compare(a.Code, b.Code))
	})
	return report, nil
}

// assumed returns the environment with the changes of WhatIf.
func (o Options) assumed() (contextfiles.Env, error) {
	env := o.Env
	removed := map[string]bool{}
	for _, change := range o.WhatIf {
		name, ok := strings.CutPrefix(change, "rm ")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return env, coded.Field("whatIf", `expected "rm FILE", got %q`, text.Sanitize(change, 60))
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(env.Dir, name)
		}
		if _, err := env.Files.Stat(name); err != nil {
			return env, coded.Field("whatIf", "there is no file %s", text.Sanitize(name, 200))
		}
		removed[filepath.Clean(name)] = true
	}
	if len(removed) > 0 {
		env.Files = env.Files.Over(contextfiles.Overlay{FS: env.Files.FS, Removed: removed})
	}
	return env, nil
}

// place says where a finding is in lines and columns.
func place(files *contextfiles.Reader, f contextfiles.Finding) Finding {
	body := files.Text(f.Path)
	at := func(offset int) Place {
		line, column := contextfiles.LineColumn(body, offset)
		return Place{line + 1, column + 1}
	}
	return Finding{Code: f.Code, Host: f.Host, Path: f.Path, Start: at(f.Start), End: at(f.End), Message: text.Sanitize(f.Message, maxMessage), URL: URL(f.Code), Fix: f.Fix}
}

// host counts what one host loads.
func (o Options) host(env contextfiles.Env, load *contextfiles.Load) HostAudit {
	encoding, exact := encodingOf(load)
	h := HostAudit{Host: load.Host, RulesVersion: contextfiles.Versions[load.Host], Exact: exact, Complete: true, Encoding: encoding.Name(), Parts: []AuditPart{}}
	count := func(s string) int { return o.Counts.of(encoding, s) }
	for i := range load.Parts {
		h.Parts = append(h.Parts, partOf(&load.Parts[i], load.Host, env.Files, count))
	}
	var recorded *session.RequestRecord
	if o.Recorded != nil {
		recorded = o.Recorded(load.Host)
	}
	h.Parts = append(h.Parts, builtins(load.Host, recorded, count)...)
	for _, p := range h.Parts {
		if p.Tokens == nil {
			h.Complete = false
			continue
		}
		h.Tokens += *p.Tokens
		if p.Basis == BasisTable || p.Why != "" {
			h.Exact = false
		}
	}
	h.Exact = h.Exact && h.Complete
	slices.SortStableFunc(h.Parts, func(a, b AuditPart) int { return cmp.Compare(tokensOf(b), tokensOf(a)) })
	if window := windows[load.Host]; load.Window > 0 || window > 0 {
		window = cmp.Or(load.Window, window)
		percent := text.Percent(h.Tokens, window)
		h.WindowTokens, h.Percent = &window, &percent
	}
	return h
}

func tokensOf(p AuditPart) int {
	if p.Tokens == nil {
		return -1
	}
	return *p.Tokens
}

// encodingOf returns the encoding in which a host's text is counted, and whether it is the model's own.
func encodingOf(load *contextfiles.Load) (*token.Encoding, bool) {
	name, exact := session.Encoding, false
	if load.Model != "" {
		if known, ok := token.ForModel(load.Model); ok {
			name, exact = known, true
		}
	}
	encoding, err := token.Get(name)
	if err != nil {
		panic(err) // both names are in the program
	}
	return encoding, exact
}

// partOf counts a part that files make.
func partOf(p *contextfiles.Part, host session.Host, files *contextfiles.Reader, count func(string) int) AuditPart {
	out := AuditPart{Name: p.Name, Where: p.Where, Basis: BasisFiles, Why: p.Rest, Items: []AuditItem{}}
	sent := p.Text()
	tokens, bytes := count(sent), len(sent)
	if more, ok := listings[host][p.Name]; ok && p.Rest != "" {
		if sent == "" { // the block has the host's own lines in any case
			tokens, bytes = more.empty, more.emptyBytes
		} else {
			tokens, bytes = tokens+more.tokens, bytes+more.bytes
		}
		out.Basis, out.Why = BasisTable, p.Rest+" are from version "+contextfiles.Versions[host]
	}
	out.Tokens, out.Bytes = &tokens, &bytes
	out.Items = tree(p.Entries, files, count)
	return out
}

// node is an item under construction.
type node struct {
	AuditItem
	children []*node
}

// tree puts the entries of imports below those that import them.
func tree(entries []contextfiles.Entry, files *contextfiles.Reader, count func(string) int) []AuditItem {
	var roots []*node
	latest := map[string]*node{} // by path: the one that imports what follows
	order := 0
	for i := range entries {
		e := &entries[i]
		n := &node{AuditItem: AuditItem{Kind: e.Kind, Path: e.Path, Name: e.Name, When: e.When, Why: e.Reason, Bytes: e.Sent, Size: e.Size, Cut: e.Cut, Inlined: e.Inlined}}
		switch e.When {
		case contextfiles.AtStart:
			order++
			n.Order = order
			n.Tokens = count(e.Text)
		case contextfiles.OnRead:
			n.Tokens = count(files.Text(e.Path))
		}
		latest[e.Path] = n
		if parent := latest[e.Parent]; e.Parent != "" && parent != nil && parent != n {
			parent.children = append(parent.children, n)
		} else {
			roots = append(roots, n)
		}
	}
	return finish(roots)
}

// sortItems sorts items by when they are loaded, then by what they cost.
func sortItems(items []AuditItem) {
	slices.SortStableFunc(items, func(a, b AuditItem) int {
		return cmp.Or(cmp.Compare(rank(a.When), rank(b.When)), cmp.Compare(b.Total(), a.Total()))
	})
}

// finish sorts nodes by what they cost with all that is below them.
func finish(nodes []*node) []AuditItem {
	items := make([]AuditItem, 0, len(nodes))
	for _, n := range nodes {
		n.Items = nil
		if len(n.children) > 0 {
			n.Items = finish(n.children)
		}
		items = append(items, n.AuditItem)
	}
	sortItems(items)
	return items
}

func rank(w contextfiles.When) int {
	return slices.Index([]contextfiles.When{contextfiles.AtStart, contextfiles.OnRead, contextfiles.Never}, w)
}

// Total returns the tokens of an item at the start, with those of what it imports. What Gemini CLI puts into the text of the importing
// file counts there alone.
func (i AuditItem) Total() int {
	total := 0
	if i.When == contextfiles.AtStart {
		total = i.Tokens
	}
	for _, child := range i.Items {
		if child.Inlined {
			continue
		}
		total += child.Total()
	}
	return total
}

// Counts keeps the tokens of texts. It is safe for many goroutines.
type Counts struct {
	mu    sync.Mutex
	known map[counted]int
	bytes int
}

type counted struct {
	encoding string
	text     string
}

// maxCounted bounds the texts in bytes that are kept.
const maxCounted = 24 << 20

// NewCounts returns an empty store.
func NewCounts() *Counts { return &Counts{known: map[counted]int{}} }

// Tokens counts a text in the encoding of models whose own is not public.
func (c *Counts) Tokens(s string) int {
	encoding, err := token.Get(session.Encoding)
	if err != nil {
		panic(err) // it is in the program
	}
	return c.of(encoding, s)
}

// of counts a text.
func (c *Counts) of(encoding *token.Encoding, s string) int {
	if s == "" {
		return 0
	}
	key := counted{encoding.Name(), s}
	c.mu.Lock()
	n, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return n
	}
	n = encoding.Count(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes += len(s); c.bytes > maxCounted {
		clear(c.known)
		c.bytes = len(s)
	}
	c.known[key] = n
	return n
}

package ui

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/audit"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/survival"
	"github.com/ctxls/ctxls/internal/core/text"
)

// pageFiles are the parts of the page. All but the HTML, page.css and page.mjs are the components that the dashboard of VS Code is made of, too.
//
//go:embed page/*.html page/*.css page/*.mjs
var pageFiles embed.FS

// pageModules are the modules of the page's script, each after those that it imports.
var pageModules = []string{"words", "dom", "lists", "plot", "panels", "session", "fleet", "page"}

// What makes a script a module, and comments on lines of their own.
var (
	moduleImport  = regexp.MustCompile(`(?m)^import (\{[^}]*\}) from './(\w+)\.mjs';$`)
	moduleExport  = regexp.MustCompile(`(?m)^export ((?:const|function) (\w+))`)
	moduleComment = regexp.MustCompile(`(?m)^ *//.*\n|^ */\*\*(?:[^*]|\*[^/])*\*/\n`)
)

// pageParts returns the page's HTML with placeholders for the others, its style and its script: one, since the page is one file. Each
// module becomes a function of what it imports.
func pageParts() (frame, style, script string) {
	read := func(name string) string {
		data, err := pageFiles.ReadFile("page/" + name)
		if err != nil {
			panic(err) // it is in the program
		}
		return string(data)
	}
	var b strings.Builder
	b.WriteString("\"use strict\";\n(() => {\n")
	for _, name := range pageModules {
		source, exported := moduleComment.ReplaceAllString(read(name+".mjs"), ""), []string{}
		for _, found := range moduleExport.FindAllStringSubmatch(source, -1) {
			exported = append(exported, found[2])
		}
		source = moduleExport.ReplaceAllString(moduleImport.ReplaceAllString(source, "const $1 = $2;"), "$1")
		fmt.Fprintf(&b, "const %s = (() => {\n%sreturn { %s };\n})();\n", name, source, strings.Join(exported, ", "))
	}
	b.WriteString("})();\n")
	return read("page.html"), read("page.css") + read("components.css"), b.String()
}

// PageSession is one session on the page. What is nil is not known, and left out.
type PageSession struct {
	core.SessionDetail
	Samples     []session.Sample
	Plan        *plan.Report
	Compactions []survival.Entry
	Audit       *audit.AuditReport // of the session's directory and host; sessions may share one
}

// maxPageSamples bounds the points of a session's history in the page; no plot is wider.
const maxPageSamples = 900

// Page writes the report as one HTML page that contains its style, script and data. Its content security policy forbids all requests.
func Page(w io.Writer, r core.FleetReport, sessions []PageSession, now time.Time) error {
	data, err := pageJSON(r, sessions, now)
	if err != nil {
		return err
	}
	frame, style, script := pageParts()
	_, err = strings.NewReplacer(
		"{{csp}}", "default-src 'none'; style-src "+hashOf(style)+"; script-src "+hashOf(script)+"; base-uri 'none'; form-action 'none'",
		"{{style}}", style, "{{script}}", script, "{{data}}", string(data),
	).WriteString(w, frame)
	return err
}

// hashOf returns the source expression of an inline part for a content security policy.
func hashOf(part string) string {
	sum := sha256.Sum256([]byte(part))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// pageData is the data for the page's script, in the form of types.d.ts.
type pageData struct {
	Now         time.Time            `json:"now"`
	Report      core.FleetReport     `json:"report"`
	Compactions *survival.Listing    `json:"compactions"` // of all sessions; null is not known
	Audits      []*audit.AuditReport `json:"audits"`
	Sessions    []pageSession        `json:"sessions"`
}

type pageSession struct {
	Detail      core.SessionDetail `json:"detail"`
	Points      [][]any            `json:"points"` // milliseconds since 1970, tokens, and the kind unless that is "usage"
	Plan        *plan.Report       `json:"plan"`
	Compactions *survival.Listing  `json:"compactions"`
	Audit       *int               `json:"audit"` // a place in Audits
}

// pageJSON returns the data as JSON. All text in it is sanitized, and <, > and & are written as \u003c and the like.
func pageJSON(r core.FleetReport, sessions []PageSession, now time.Time) ([]byte, error) {
	r.TaskTokens = nil // the histogram says it shorter
	data := pageData{Now: now, Report: r, Sessions: []pageSession{}, Audits: []*audit.AuditReport{}}
	places := map[*audit.AuditReport]*int{}
	all, known := []survival.Entry{}, false // compactions
	for _, s := range sessions {
		p := pageSession{Detail: s.SessionDetail, Points: [][]any{}, Plan: s.Plan}
		for _, sample := range thin(s.Samples, maxPageSamples) {
			point := []any{sample.At.UnixMilli(), sample.Tokens}
			if sample.Kind != session.SampleUsage {
				point = append(point, sample.Kind)
			}
			p.Points = append(p.Points, point)
		}
		if s.Compactions != nil {
			listing := survival.LedgerOf(s.Compactions)
			p.Compactions, all = &listing, append(all, s.Compactions...)
			known = true
		}
		if s.Audit != nil {
			if places[s.Audit] == nil {
				place := len(data.Audits)
				places[s.Audit], data.Audits = &place, append(data.Audits, s.Audit)
			}
			p.Audit = places[s.Audit]
		}
		data.Sessions = append(data.Sessions, p)
	}
	if known {
		listing := survival.LedgerOf(all)
		data.Compactions = &listing
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil { // whole numbers up to 2^53 stay whole
		return nil, err
	}
	return json.Marshal(sanitized(tree))
}

// sanitized returns JSON with every text in it made safe to show.
func sanitized(v any) any {
	switch v := v.(type) {
	case string:
		return text.Sanitize(v, 0)
	case []any:
		for i := range v {
			v[i] = sanitized(v[i])
		}
	case map[string]any:
		for name, member := range v {
			v[name] = sanitized(member)
		}
	}
	return v
}

// thin reduces samples to about most and keeps the shape of the curve: the lowest and the highest of each stretch with its last compaction, and
// the first and the last sample.
func thin(samples []session.Sample, most int) []session.Sample {
	if len(samples) <= most {
		return samples
	}
	thinned := []session.Sample{samples[0]}
	stretches := most/3 - 1
	inner := samples[1 : len(samples)-1]
	for i := range stretches {
		stretch := inner[i*len(inner)/stretches : (i+1)*len(inner)/stretches]
		low, high, compaction := 0, 0, -1
		for j, s := range stretch {
			if s.Tokens < stretch[low].Tokens {
				low = j
			}
			if s.Tokens > stretch[high].Tokens {
				high = j
			}
			if s.Kind == session.SampleCompaction {
				compaction = j
			}
		}
		for j, s := range stretch {
			if j == low || j == high || j == compaction {
				thinned = append(thinned, s)
			}
		}
	}
	return append(thinned, samples[len(samples)-1])
}

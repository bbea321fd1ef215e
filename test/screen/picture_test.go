//go:build !windows

package screen

import (
	"bytes"
	"flag"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/audit"
	"github.com/ctxls/ctxls/internal/contextfiles"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/survival"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/ui"
)

var update = flag.Bool("update", false, "redraw the README's picture of the page")

// noon is when the report of the picture was made.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// pageSession is a session that has worked for hours: so many tokens a response, compacted whenever it was full.
func pageSession(host session.Host, id, cwd, title, model string, window, compaction, perResponse, responses int) ui.PageSession {
	tokens, compactions, provenance := 21_000, 0, session.ProvenanceTranscript
	var samples []session.Sample
	for i := range responses {
		kind := session.SampleUsage
		if tokens += perResponse/2 + perResponse*(i%4)/3; tokens > compaction {
			tokens, kind, compactions = 29_000, session.SampleCompaction, compactions+1
		}
		samples = append(samples, session.Sample{At: noon.Add(time.Duration(i-responses) * 90 * time.Second), Tokens: tokens, WindowTokens: window, Kind: kind})
	}
	left, percent, share, at := compaction-tokens, text.Percent(tokens, window), float64(tokens)/float64(window)*100, samples[len(samples)-1].At
	level := core.LevelOf(tokens, window, left, core.LevelsFor("", settings.Default()))
	part := func(category session.Category, tool string, percent int) session.Part {
		return session.Part{Category: category, Tool: tool, Tokens: tokens * percent / 100}
	}
	parts := []session.Part{part(session.CategoryMemory, "", 2), part(session.CategorySummary, "", 4), part(session.CategoryUser, "", 1), part(session.CategoryAssistant, "", 8), part(session.CategoryThinking, "", 9),
		part(session.CategoryCalls, "", 14), part(session.CategoryResult, "Read", 27), part(session.CategoryResult, "Bash", 15), part(session.CategoryResult, "Grep", 4)}
	rest := tokens
	for _, p := range parts {
		rest -= p.Tokens
	}
	parts = append([]session.Part{{Category: session.CategorySystem, Tokens: rest}}, parts...)
	return ui.PageSession{Samples: samples, Plan: pagePlan(tokens), Compactions: pageCompactions(compactions, compaction), Audit: pageAudit(cwd, host), SessionDetail: core.SessionDetail{
		SessionView: core.SessionView{Host: host, SessionID: id, CWD: cwd, Title: title, Model: model, Compactions: compactions, State: core.StateActive, StartedAt: samples[0].At, UpdatedAt: at,
			WorkingSet: []string{"src/cart/server.ts", "src/cart/store.ts"}, Agents: []core.AgentView{},
			Usage: core.Usage{Tokens: &tokens, ProjectedTokens: &tokens, WindowTokens: window, WindowWhy: "the host says so", Percent: &share, Level: &level, Provenance: &provenance, AsOf: &at,
				CompactionRule: "threshold", CompactionTokens: &compaction, ToCompaction: &left, TurnsLeft: &session.Forecast{Low: 2, Mid: 4, High: 7}, Display: core.Display{Tokens: &tokens, LimitTokens: window, Percent: &percent}}},
		Breakdown: &session.Breakdown{Tokens: &tokens, AsOf: &at, Parts: parts, Files: []session.FilePart{{Path: "src/cart/server.ts", Tokens: tokens / 9}, {Path: "src/cart/store.ts", Tokens: tokens / 15}},
			LastTurn: &session.Growth{Since: noon.Add(-4 * time.Minute), Tokens: tokens / 10, Parts: []session.Part{part(session.CategoryResult, "Read", 10)}}},
	}}
}

// pagePlan is what could go of a window of so many tokens.
func pagePlan(tokens int) *plan.Report {
	one, three := 1, 3
	item := func(kind plan.Kind, path string, percent int, why string) plan.Item {
		return plan.Item{Kind: kind, Tokens: tokens * percent / 100, Certainty: plan.High, Why: why, Where: plan.Where{Turn: 4, Tool: "Read", Path: path}}
	}
	return &plan.Report{Tokens: tokens, FreeableTokens: tokens * 24 / 100, AfterTokens: tokens * 76 / 100, Advice: "Cutting now frees " + text.Thousands(tokens*24/100) + " and pays for itself after 1 turn.",
		Items: []plan.Item{item(plan.Superseded, "src/cart/server.ts", 13, "written in turn 9"), item(plan.Duplicate, "src/cart/store.ts", 6, "the same result stands again in turn 11"), item(plan.Stale, "test/cart.test.ts", 5, "nothing named it for 14 turns")},
		Cache: plan.Cache{RewrittenTokens: tokens / 2, BreakEvenRequests: &three, BreakEvenTurns: &one, ExpectedRequests: 42, ExpectedTurns: 9}}
}

// pageCompactions are so many compactions from about the same size.
func pageCompactions(n, from int) []survival.Entry {
	entries := []survival.Entry{}
	for i := range n {
		at, before, after, files, commands := noon.Add(time.Duration(i-n)*44*time.Minute), from-1200+i*310, 27_400+i*900, 2+i%2, 1+i%3
		entries = append(entries, survival.Entry{At: &at, Automatic: i != 1, MidTurn: i%2 == 0, PreTokens: &before, PostTokens: &after,
			Paths: survival.Class{Known: 14 + i, Named: 9, Given: 5, Used: &files}, Commands: survival.Class{Known: 31 + 7*i, Named: 6, Given: 9, Used: &commands},
			Words: survival.Class{Known: 6 + i, Named: 2, Given: 3}, Rereads: survival.Rereads{Reads: 14 - i, Again: 6 - i, Tokens: 8120 - 900*i}})
	}
	return entries
}

// pageAudit is what a session holds before its first prompt.
func pageAudit(dir string, host session.Host) *audit.AuditReport {
	window, percent, system, memory, skills := 200_000, 11, 14_300, 5_120, 1_480
	return &audit.AuditReport{Dir: dir, Hosts: []audit.HostAudit{{Host: host, Tokens: system + memory + skills, WindowTokens: &window, Percent: &percent, Parts: []audit.AuditPart{
		{Name: "system prompt and built-in tools", Tokens: &system, Basis: audit.BasisRecord, Items: []audit.AuditItem{}},
		{Name: "memory files", Tokens: &memory, Basis: audit.BasisFiles, Items: []audit.AuditItem{
			{Kind: contextfiles.KindMemory, Path: dir + "/CLAUDE.md", When: contextfiles.AtStart, Tokens: 4_210, Items: []audit.AuditItem{{Kind: contextfiles.KindImport, Path: dir + "/docs/style.md", When: contextfiles.AtStart, Tokens: 2_050},
				{Kind: contextfiles.KindImport, Path: dir + "/docs/testing.md", When: contextfiles.Never, Why: "the import is followed by a comma"}}},
			{Kind: contextfiles.KindRule, Path: dir + "/.claude/rules/css.md", When: contextfiles.OnRead, Why: "loaded with the first file that matches *.css", Tokens: 640}}},
		{Name: "skills", Tokens: &skills, Basis: audit.BasisFiles, Items: []audit.AuditItem{{Kind: contextfiles.KindSkill, Name: "release-notes", When: contextfiles.AtStart, Tokens: 118}}},
		{Name: "tools of MCP servers", Basis: audit.BasisUnknown, Why: "not asked", Items: []audit.AuditItem{}}}}},
		Findings: []audit.Finding{{Code: "import-punctuation", Host: host, Path: dir + "/CLAUDE.md", Start: audit.Place{Line: 7, Column: 3}, Message: "docs/testing.md is not loaded: a comma follows its name"}}}
}

// The picture of the page in the README, and the page in the other theme and on a phone, for reviewers.
func TestPagePicture(t *testing.T) {
	var tokens []int
	for i := range 412 {
		tokens = append(tokens, int(58_000*math.Exp(0.62*math.Sin(float64(i)*1.7)+0.45*math.Cos(float64(i)*0.37)+0.2*math.Sin(float64(i*i)))))
	}
	tokens = append(tokens, 214_000, 231_000, 268_000)
	report := core.FleetReport{Sessions: 3, Compactions: 4, Histogram: fleet.Histogram(tokens), TaskTokens: tokens,
		ContextOptimizationReport: fleet.Fleet{Tokens: tokens, Trim: fleet.TrimCount{Operations: 14, Tokens: 391_000}}.Report(settings.Default().Metrics)}
	sessions := []ui.PageSession{
		pageSession(session.HostClaudeCode, "c203db13", "/home/dev/shop", "Move the cart to the server", "claude-opus-4-6", 200_000, 167_000, 5_200, 118),
		pageSession(session.HostCodex, "019a3c3e", "/home/dev/kernel", "", "gpt-5.4", 258_400, 244_800, 7_000, 31),
		pageSession(session.HostClaudeCode, "77e1b9f0", "/home/dev/site", "Tidy the style sheets", "claude-sonnet-4-6", 200_000, 167_000, 2_100, 40),
	}
	var page bytes.Buffer
	if err := ui.Page(&page, report, sessions, noon); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	for _, screen := range []struct {
		name, theme   string
		width, height int
	}{{"light", "light", 1100, 1235}, {"dark", "dark", 1100, 3300}, {"wide", "light", 2560, 1400}, {"light-narrow", "light", 390, 4400}, {"dark-narrow", "dark", 320, 4800}} {
		b.open(file, screen.width, 900, screen.theme)
		data := b.picture(screen.width, screen.height)
		if dir := os.Getenv("CTXLS_PICTURES"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, "page-"+screen.name+".png"), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if screen.name == "light" && *update {
			if err := os.WriteFile("../../docs/images/report.png", data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.quiet(file)

	// The picture shows the current page, except for fonts: browsers draw the same page differently.
	data, err := os.ReadFile("../../docs/images/report.png")
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil || len(data) > 200_000 || picture.Bounds().Dx() != 1100 {
		t.Errorf("docs/images/report.png: %d bytes (%v); go test ./test/screen -run Picture -update redraws it", len(data), err)
	}
}

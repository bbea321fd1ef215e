package ui

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

var update = flag.Bool("update", false, "rewrite the golden files and the pictures")

// noon is when the people of these tests look at their screens.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// usage is a window with so many tokens in it, as the domain works it out: the gauge, not the view, is made up here.
func usage(tokens, window, compaction int, provenance session.Provenance) core.Usage {
	u := core.Usage{WindowTokens: window, WindowProvenance: model.WindowFromHost, WindowWhy: "the host says so", Display: core.Display{LimitTokens: window}}
	left := max(compaction-tokens, 0)
	if compaction > 0 {
		u.CompactionTokens = &compaction
	} else {
		left = -1
	}
	if tokens == 0 {
		return u
	}
	level, percent, share, at := core.LevelOf(tokens, window, left, core.LevelsFor("", settings.Default())), text.Percent(tokens, window), float64(tokens)/float64(window)*100, noon.Add(-time.Minute)
	u.Tokens, u.ProjectedTokens, u.Percent, u.Level, u.Provenance, u.AsOf = &tokens, &tokens, &share, &level, &provenance, &at
	u.Display.Tokens, u.Display.Percent = &tokens, &percent
	if compaction > 0 {
		u.ToCompaction = &left
	}
	return u
}

// stage is a machine at work: hosts, models and states of every kind, and one session whose names were chosen to do harm.
func stage() []core.SessionView {
	forecast := func(u core.Usage, low, mid, high int) core.Usage {
		growth := 4200
		u.TurnsLeft, u.GrowthPerTurn = &session.Forecast{Low: low, Mid: mid, High: high}, &growth
		return u
	}
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	ended := ago(26 * time.Hour)
	return []core.SessionView{
		{Host: session.HostClaudeCode, SessionID: "c203db13-ae41-4c6e-9d57-b0a1f2a9c001", CWD: "/home/dev/shop", Title: "Move the cart to the server", Model: "claude-opus-4-6", Provider: "anthropic",
			Usage: forecast(usage(143_912, 200_000, 167_000, session.ProvenanceHost), 3, 5, 9), Compactions: 2, State: core.StateActive, StartedAt: ago(3 * time.Hour), UpdatedAt: ago(20 * time.Second),
			Agents:      []core.AgentView{{AgentID: "af83ffba39964d85a", AgentType: "Explore", Usage: usage(61_000, 200_000, 167_000, session.ProvenanceTranscript)}, {AgentID: "a11", AgentType: "", Usage: usage(0, 200_000, 167_000, "")}},
			AgentsEnded: []core.AgentView{{AgentID: "b7c20e51a9", AgentType: "code-reviewer", Usage: usage(18_200, 200_000, 167_000, session.ProvenanceTranscript)}},
			WorkingSet:  []string{"src/cart/server.ts", "src/cart/store.ts", "src/cart/store.test.ts", "docs/cart.md"}},
		{Host: session.HostCodex, SessionID: "019a3c3e-71e4-7c20-a87c-3f1c7c0b1d42", CWD: "/home/dev/kernel", Model: "gpt-5.4", Provider: "openai",
			Usage: forecast(usage(231_400, 258_400, 244_800, session.ProvenanceTranscript), 0, 1, 2), State: core.StateActive, StartedAt: ago(time.Hour), UpdatedAt: ago(3 * time.Minute)},
		{Host: session.HostClaudeCode, SessionID: "77e1b9f0-1b63-44a0-8f11-8d5d5e0f2a77", CWD: "/home/dev/site", Title: "Tidy the style sheets", Model: "claude-sonnet-5", Provider: "anthropic",
			Usage: usage(412_000, 1_000_000, 0, session.ProvenanceHost), State: core.StateActive, Compacting: true, StartedAt: ago(5 * time.Hour), UpdatedAt: ago(11 * time.Minute)},
		{Host: session.HostGeneric, SessionID: "run-42", CWD: "/srv/agents/nightly", Model: "qwen3-coder", Usage: usage(48_300, 131_072, 131_072, session.ProvenanceEstimate), State: core.StateIdle, StartedAt: ago(9 * time.Hour), UpdatedAt: ago(2 * time.Hour)},
		{Host: session.HostOpenCode, SessionID: "ses_61f2a9", CWD: "/home/dev/notes", Usage: usage(0, 200_000, 168_000, ""), State: core.StateActive, StartedAt: ago(time.Minute), UpdatedAt: ago(time.Minute)},
		{Host: session.HostGeminiCLI, SessionID: "9b0e\x1b[31m", CWD: "/tmp/\x1b]0;owned\x07/\u202e\x1b[2J</script><img src=x onerror=alert(1)>", Title: "\x1b[2Jtitle\r\nof two lines <b>", Model: "gem\x1b[5mini\u200b-2.5-pro", Usage: usage(12_000, 1_048_576, 1_048_576, session.ProvenanceReported),
			State: core.StateEnded, StartedAt: ended.Add(-time.Hour), UpdatedAt: ended, EndedAt: &ended, WorkingSet: []string{"\x1b[31mred.go"}},
	}
}

// filled is the first session of the stage with what fills it.
func filled() core.SessionDetail {
	s := core.SessionDetail{SessionView: stage()[0]}
	at, turn := noon.Add(-time.Minute), noon.Add(-4*time.Minute)
	result := func(tool string, tokens int) session.Part {
		return session.Part{Category: session.CategoryResult, Tool: tool, Tokens: tokens}
	}
	s.Breakdown = &session.Breakdown{
		Tokens: s.Usage.Tokens, AsOf: &at,
		Parts: []session.Part{{Category: session.CategorySystem, Tokens: 24_310}, {Category: session.CategoryMemory, Tokens: 3_120}, {Category: session.CategorySummary, Tokens: 4_480},
			{Category: session.CategoryInjected, Tokens: 2_950}, {Category: session.CategoryUser, Tokens: 1_902}, {Category: session.CategoryAssistant, Tokens: 9_417}, {Category: session.CategoryThinking, Tokens: 11_204},
			{Category: session.CategoryCalls, Tokens: 18_733}, result("Read", 38_815), result("Bash", 21_406), result("Grep", 5_870), result("mcp__github__get_pull_request", 1_620), result("", 85)},
		Files: []session.FilePart{{Path: "src/cart/server.ts", Tokens: 16_204}, {Path: "src/cart/store.ts", Tokens: 9_950}, {Path: "src/checkout/payment/providers/adyen/webhooks/handler.test.ts", Tokens: 7_310}, {Path: "docs/cart.md", Tokens: 402}},
		LastTurn: &session.Growth{Since: turn, Tokens: 13_840, Parts: []session.Part{{Category: session.CategoryUser, Tokens: 118}, {Category: session.CategoryAssistant, Tokens: 1_130}, {Category: session.CategoryThinking, Tokens: 2_044},
			{Category: session.CategoryCalls, Tokens: 1_748}, result("Read", 6_620), result("Bash", 2_180)}},
	}
	return s
}

// curve is the history of a session of three hours that was compacted twice.
func curve() []session.Sample {
	var samples []session.Sample
	tokens := 24_000
	for i := range 90 {
		at, kind := noon.Add(time.Duration(i-90)*2*time.Minute), session.SampleUsage
		if tokens += 4_100 + 900*(i%5); tokens > 164_000 {
			tokens, kind = 31_000, session.SampleCompaction
		}
		samples = append(samples, session.Sample{At: at, Tokens: tokens, WindowTokens: 200_000, Kind: kind})
	}
	return samples
}

// golden compares a screen with what it was when somebody looked at it last.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", file, diff)
	}
}

// screens are the widths at which everything is drawn: none told, a narrow split, the common two, a wide one.
var screens = []struct {
	name string
	Style
}{{"plain", Style{}}, {"40", Style{Width: 40}}, {"80", Style{Width: 80}}, {"80-color", Style{Width: 80, Color: true}}, {"120", Style{Width: 120}}, {"200", Style{Width: 200}}, {"200-color", Style{Width: 200, Color: true}}}

// drawn checks what must hold of every screen: it is no wider than it may be, colours add nothing that can be seen, and
// nothing but colours is an escape sequence.
func drawn(t *testing.T, l Style, draw func(Style) string) string {
	t.Helper()
	text := draw(l)
	plain := colors.ReplaceAllString(text, "")
	if l.Color {
		if bare := draw(Style{Width: l.Width}); bare != plain {
			t.Errorf("colours change what is said:\n%s", cmp.Diff(bare, plain))
		}
	} else if plain != text {
		t.Errorf("colours where there should be none: %q", text)
	}
	for i, line := range strings.Split(plain, "\n") {
		if l.Width > 0 && lipgloss.Width(line) > l.Width {
			t.Errorf("line %d is %d cells wide, of %d: %q", i+1, lipgloss.Width(line), l.Width, line)
		}
		if bad := notPrinted.FindString(line); bad != "" {
			t.Errorf("line %d holds %q: %q", i+1, bad, line)
		}
	}
	return text
}

var notPrinted = regexp.MustCompile(`[\x00-\x1f\x7f-\x9f\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}]`)

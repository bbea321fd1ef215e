package ui

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

func TestSessionsScreens(t *testing.T) {
	for _, screen := range screens {
		t.Run(screen.name, func(t *testing.T) {
			golden(t, "sessions-"+screen.name+".txt", drawn(t, screen.Style, sessionsText))
		})
	}
}

func sessionsText(l Style) string {
	var b strings.Builder
	_ = Sessions(&b, stage(), noon, l)
	return b.String()
}

func TestBreakdownScreens(t *testing.T) {
	for _, screen := range screens {
		t.Run(screen.name, func(t *testing.T) {
			golden(t, "breakdown-"+screen.name+".txt", drawn(t, screen.Style, func(l Style) string { return breakdownText(filled(), noon, l) }))
		})
	}
}

func TestBreakdownUnknown(t *testing.T) {
	s := core.SessionDetail{SessionView: stage()[4]}
	s.Breakdown = &session.Breakdown{Why: "OpenCode keeps no\x1b[2J record"}
	if got, want := breakdownText(s, noon, Style{}), "opencode · notes · ? · ses_61f2a9\n?/200k tokens · ? · ? to compaction\n\n? (OpenCode keeps no [2J record)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDetailScreens(t *testing.T) {
	for _, screen := range screens[1:] {
		t.Run(screen.name, func(t *testing.T) {
			golden(t, "detail-"+screen.name+".txt", drawn(t, screen.Style, func(l Style) string {
				return detailText(detail{view: filled(), samples: curve(), read: true}, noon, l)
			}))
		})
	}
}

// The keys are explained in full on a narrow screen too.
func TestHelpIsNarrow(t *testing.T) {
	help := drawn(t, Style{Width: 40}, func(l Style) string { return strings.Join((&live{style: l}).helpLines(), "\n") })
	for _, k := range append(keysHelp, [2]string{"figures:", "? unknown · LEFT tokens until the host compacts"}) {
		if said := strings.Join(strings.Fields(help), " "); !strings.Contains(said, k[1]) {
			t.Errorf("%s: %q is not all there:\n%s", k[0], k[1], help)
		}
	}
}

// Who types a long filter sees the end of it.
func TestLongFilter(t *testing.T) {
	m := &live{style: Style{Width: 20}, height: 5, typing: true, words: strings.Repeat("shop ", 20) + "the end"}
	lines := m.lines(noon)
	if got, want := lines[len(lines)-1], "filter: …op the end█"; got != want {
		t.Errorf("the line is %q, want %q", got, want)
	}
}

// oneSource is a machine with one session of Claude Code, which has ended.
type oneSource struct{ LiveSource }

func (oneSource) Sessions(_ context.Context, f core.SessionFilter) ([]core.SessionView, error) {
	if !f.IncludeEnded || f.Host != "" && f.Host != session.HostClaudeCode {
		return nil, nil
	}
	return stage()[:1], nil
}

// A screen whose filter hides every session does not say that there is none.
func TestFilterHidesAll(t *testing.T) {
	for want, filter := range map[string]core.SessionFilter{
		"No session matches the flags of this command.":                                      {Host: session.HostOpenCode, IncludeEnded: true},
		"No session matches the flags of this command.\n\na shows sessions that have ended.": {Host: session.HostClaudeCode},
		"All sessions have ended.\n\na shows sessions that have ended.":                      {},
	} {
		m := &live{ctx: t.Context(), source: oneSource{}, filter: filter, style: Style{Width: 80}}
		m.Update(m.load())
		if got := strings.Join(m.emptyLines(), "\n"); got != want {
			t.Errorf("%+v: %q, want %q", filter, got, want)
		}
	}
}

// A figure that rests on an estimate is marked wherever it is shown.
func TestEstimateIsMarked(t *testing.T) {
	s := stage()[3:4]
	for _, l := range []Style{{}, {Width: 40}, {Width: 80}} {
		var b strings.Builder
		_ = Sessions(&b, s, noon, l)
		for _, want := range []string{"~37%", "~48k", "~83k"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("at %d cells there is no %q:\n%s", l.Width, want, b.String())
			}
		}
	}
}

// At 40 cells neither of the two figures that matter is cut: the share, and what is left to compaction.
func TestFiguresOfNarrowTables(t *testing.T) {
	rows, _ := sessionRows(stage(), noon, Style{Width: 40}, 2)
	if width := gridWidth(rows); width > 38 {
		t.Errorf("beside the mark of the live screen, the table takes %d cells of 38", width)
	}
}

// A history whose highest point is known: where the window was compacted there is a mark, and a curve that never moved
// does not divide by nothing.
func TestHistory(t *testing.T) {
	samples := []session.Sample{
		{At: noon.Add(-4 * time.Minute), Tokens: 50, WindowTokens: 200, Kind: session.SampleUsage},
		{At: noon.Add(-2 * time.Minute), Tokens: 200, WindowTokens: 200, Kind: session.SampleUsage},
		{At: noon, Tokens: 25, WindowTokens: 200, Kind: session.SampleCompaction},
	}
	want := strings.Join([]string{"    ████  200", "▄▄▄▄████▂ 0", "────────▼", "4m ago just now", ""}, "\n")
	got := history(samples, noon, Style{}, 9, 2)
	if got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	if got := history(samples[:1], noon, Style{}, 9, 1); !strings.Contains(got, "▂") {
		t.Errorf("one sample: %q", got)
	}
	if got := history(nil, noon, Style{}, 9, 1); got != "" {
		t.Errorf("no samples: %q", got)
	}
}

// Whatever hosts call things: no screen is wider than it may be, and nothing of it gets through to the terminal.
func TestHostileNames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\x1b[2J", "\x9b31m", "\u202e", "a\r\nb", "\x1b]8;;http://x\x1b\\y", "名前名前名前名前名前名前名前名前", "\xff\xfe", strings.Repeat("x", 400)}))
		s := filled()
		s.SessionID, s.CWD, s.Title, s.Model, s.Host = text.Draw(rt, "id"), text.Draw(rt, "cwd"), text.Draw(rt, "title"), text.Draw(rt, "model"), session.HostGeneric
		s.Usage.WindowWhy, s.WorkingSet = text.Draw(rt, "why"), []string{text.Draw(rt, "path")}
		s.Agents[0].AgentType, s.Agents[0].AgentID = text.Draw(rt, "type"), text.Draw(rt, "agent")
		s.Breakdown.Parts[9].Tool, s.Breakdown.Files[0].Path = text.Draw(rt, "tool"), text.Draw(rt, "file")
		l := Style{Width: rapid.IntRange(20, 220).Draw(rt, "width"), Color: rapid.Bool().Draw(rt, "color")}
		drawn(t, l, func(l Style) string {
			var b strings.Builder
			_ = Sessions(&b, []core.SessionView{s.SessionView, stage()[1]}, noon, l)
			return b.String() + breakdownText(s, noon, l) + detailText(detail{view: s, samples: curve(), read: true}, noon, l)
		})
		if t.Failed() {
			rt.FailNow()
		}
	})
}

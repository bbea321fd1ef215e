package ui

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
)

// session is a session as a host reported it: 72 % of 200,000 tokens.
func sessionView(edit func(*core.SessionView)) core.SessionView {
	tokens, percent, left, compaction, level, provenance := 143_912, 72, 23_088, 167_000, core.LevelWarning, session.ProvenanceHost
	s := core.SessionView{Model: "claude-sonnet-4-6", Usage: core.Usage{
		Tokens: &tokens, Level: &level, Provenance: &provenance, ToCompaction: &left, CompactionTokens: &compaction,
		Display: core.Display{Tokens: &tokens, Percent: &percent, LimitTokens: 200_000},
	}}
	if edit != nil {
		edit(&s)
	}
	return s
}

// refused makes a usage that of a host which does not compact by itself.
func refused(u *core.Usage, rule model.CompactionKind, left int) {
	u.CompactionRule, u.CompactionTokens, u.ToCompaction, u.ToRefusal = rule, nil, nil, &left
}

func TestStatusline(t *testing.T) {
	tests := []struct {
		name string
		edit func(*core.SessionView)
		o    StatuslineOptions
		want string
	}{
		{"reported", nil, StatuslineOptions{}, "███████░│░ 72% · 144k/200k · 23k to compaction · claude-sonnet-4-6"},
		{"with a forecast", func(s *core.SessionView) { s.Usage.TurnsLeft = &session.Forecast{Low: 2, Mid: 4, High: 9} }, StatuslineOptions{},
			"███████░│░ 72% · 144k/200k · 23k to compaction · ~4 turns · claude-sonnet-4-6"},
		{"with one turn", func(s *core.SessionView) { s.Usage.TurnsLeft = &session.Forecast{Low: 1, Mid: 1, High: 2} }, StatuslineOptions{},
			"███████░│░ 72% · 144k/200k · 23k to compaction · ~1 turn · claude-sonnet-4-6"},
		{"with more turns than matter", func(s *core.SessionView) { s.Usage.TurnsLeft = &session.Forecast{Low: 800, Mid: 10_111, High: 99_999} }, StatuslineOptions{},
			"███████░│░ 72% · 144k/200k · 23k to compaction · >999 turns · claude-sonnet-4-6"},
		{"estimated", func(s *core.SessionView) { p := session.ProvenanceEstimate; s.Usage.Provenance = &p }, StatuslineOptions{},
			"███████░│░ ~72% · ~144k/200k · ~23k to compaction · claude-sonnet-4-6"},
		{"a response behind", func(s *core.SessionView) { s.Usage.Stale = true }, StatuslineOptions{Format: "{percent}"}, "72%+"},
		{"with an answer that is not in the report yet", func(s *core.SessionView) {
			projected, left := 144_500, 22_500
			s.Usage.ProjectedTokens, s.Usage.ToCompaction = &projected, &left
		}, StatuslineOptions{}, "███████░│░ 72% · 144k/200k · ~23k to compaction · claude-sonnet-4-6"},
		{"with a model that waits until it is refused", func(s *core.SessionView) { refused(&s.Usage, model.CompactsOnRefusal, 56_088) }, StatuslineOptions{},
			"███████░░░ 72% · 144k/200k · 56k left, compacts when refused · claude-sonnet-4-6"},
		{"with compaction turned off", func(s *core.SessionView) { refused(&s.Usage, model.CompactsNever, 33_088) }, StatuslineOptions{},
			"███████░░░ 72% · 144k/200k · 33k left, no auto-compaction · claude-sonnet-4-6"},
		{"where nobody knows", func(s *core.SessionView) { refused(&s.Usage, model.CompactsUnknown, 56_088) }, StatuslineOptions{},
			"███████░░░ 72% · 144k/200k · 56k left · claude-sonnet-4-6"},
		{"unknown", func(s *core.SessionView) {
			s.Model, s.Usage = "", core.Usage{CompactionTokens: new(int), Display: core.Display{LimitTokens: 200_000}}
		}, StatuslineOptions{Format: "{bar} {percent} {tokens}/{window} {left} {forecast} {level} {model}"},
			"·········· ? ?/200k ? to compaction ? ? ?"},
		{"without a model", nil, StatuslineOptions{Width: 60}, "███████░│░ 72% · 144k/200k · 23k to compaction"},
		{"without what is left", nil, StatuslineOptions{Width: 40}, "███████░│░ 72% · 144k/200k"},
		{"the gauge alone", nil, StatuslineOptions{Width: 20}, "███████░│░ 72%"},
		{"the share alone", nil, StatuslineOptions{Width: 10}, "72%"},
		{"no room at all", nil, StatuslineOptions{Width: 2}, "7…"},
		{"parts of one's own", nil, StatuslineOptions{Format: "ctx | {model} | {percent} | {left} | !", Width: 30}, "72% | 23k to compaction"},
		{"not a placeholder", nil, StatuslineOptions{Format: "{} {Bar} {nothing} {percent}\x1b[2J\nx"}, "{} {Bar} {nothing} 72% [2J x"},
		{"colored", nil, StatuslineOptions{Format: "{percent} · {model}", Color: true}, "\x1b[1;33m72%\x1b[m\x1b[2m · \x1b[m\x1b[2mclaude-sonnet-4-6\x1b[m"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Statusline(sessionView(test.edit), test.o); got != test.want {
				t.Errorf("\n got %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestStatuslineCache(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name  string
		cache PromptCache
		want  string
	}{
		{"unknown", PromptCache{}, ""},
		{"warm", PromptCache{now.Add(61 * time.Second), 5 * time.Minute, 150_000}, ""},
		{"soon cold", PromptCache{now.Add(40 * time.Second), 5 * time.Minute, 150_000}, "cache cold in 40s: 150k"},
		{"soon cold, of an hour", PromptCache{now.Add(12 * time.Minute), time.Hour, 150_000}, "cache cold in 12m: 150k"},
		{"cold", PromptCache{now, 5 * time.Minute, 150_000}, "cache cold: 150k to write"},
		{"cold, and small", PromptCache{now, 5 * time.Minute, 19_999}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := sessionView(func(s *core.SessionView) { s.Usage.WindowTokens = 200_000 })
			if got := Statusline(s, StatuslineOptions{Format: "{cache}", Cache: test.cache, Now: now}); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := Statusline(s, StatuslineOptions{Format: "{percent} · {cache} | {tokens}", Cache: test.cache, Now: now}); test.want == "" && got != "72% | 144k" {
				t.Errorf("beside others %q", got)
			}
		})
	}
}

var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Whatever the format and the width, the line fits, is one line, and colours add nothing that can be seen.
func TestStatuslineFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"{bar}", "{percent}", "{tokens}", "{left}", "{model}", "{level}", "{forecast}", "{cache}", "{x}", " · ", " | ", " ", "é", "\n", "\x1b[31m"}), 0, 12).Draw(t, "pieces")
		o := StatuslineOptions{Format: strings.Join(pieces, ""), Width: rapid.IntRange(1, 120).Draw(t, "width")}
		plain := Statusline(sessionView(nil), o)
		if n := utf8.RuneCountInString(plain); n > o.Width {
			t.Errorf("%d characters: %q", n, plain)
		}
		if strings.ContainsAny(plain, "\n\x1b") {
			t.Errorf("control characters: %q", plain)
		}
		o.Color = true
		if got := colors.ReplaceAllString(Statusline(sessionView(nil), o), ""); got != plain {
			t.Errorf("in colour %q, plain %q", got, plain)
		}
	})
}

package core

import (
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
)

func TestSilence(t *testing.T) {
	number := 190_000
	tests := []struct {
		name string
		cfg  func(*settings.Config)
		ev   func(*testEnv) session.Event
	}{
		{"no usage yet", nil, func(w *testEnv) session.Event { return session.Event{Kind: session.PromptSubmitted} }},
		{"a machine's turn", nil, func(w *testEnv) session.Event {
			e := w.at(session.PromptSubmitted, 150_000)
			e.Machine = true
			return e
		}},
		{"an estimate", nil, func(w *testEnv) session.Event {
			w.play(t, session.Event{Kind: session.CompactionDone})
			return session.Event{Kind: session.PromptSubmitted}
		}},
		{"tracking off", func(c *settings.Config) { c.Tracking.MaxTokens = settings.TokenLimit{} }, func(w *testEnv) session.Event { return w.at(session.PromptSubmitted, 150_000) }},
		{"the guard directory is missing", func(c *settings.Config) { c.Tracking.GuardDir = "missing" }, func(w *testEnv) session.Event { return w.at(session.PromptSubmitted, 150_000) }},
		{"guidance off", func(c *settings.Config) { c.Tracking.Guidance = false }, func(w *testEnv) session.Event { return session.Event{Kind: session.SessionStarted} }},
		{"guidance while tracking is off", func(c *settings.Config) { c.Tracking.MaxTokens = settings.TokenLimit{} }, func(w *testEnv) session.Event { return session.Event{Kind: session.SessionStarted} }},
		{"reminder off", func(c *settings.Config) { c.Reminder.Enabled = false }, func(w *testEnv) session.Event { return w.at(session.BatchFinished, 150_000) }},
		{"below the threshold", nil, func(w *testEnv) session.Event { return w.at(session.BatchFinished, 139_999) }},
		{"below the threshold of a chosen limit", func(c *settings.Config) { c.Reminder.ActualLimitTokens = &number; c.Reminder.ThresholdPercent = 80 },
			func(w *testEnv) session.Event { return w.at(session.BatchFinished, 151_999) }},
		{"not Anthropic's", nil, func(w *testEnv) session.Event {
			e := w.at(session.ToolFinished, 150_000)
			e.Host, e.Provider, e.Model, e.Reports[0].Model = session.HostOpenCode, "openai", "gpt-4o", ""
			return e
		}},
		{"single tools where the host has a batch", nil, func(w *testEnv) session.Event { return w.at(session.ToolFinished, 150_000) }},
		{"the host takes nothing here", nil, func(w *testEnv) session.Event {
			e := w.at(session.BatchFinished, 150_000)
			e.Accepts = []session.EffectKind{}
			return e
		}},
		{"a window that is a mere assumption", func(c *settings.Config) { c.Reminder.AnthropicOnly = false }, func(w *testEnv) session.Event {
			e := w.at(session.ToolFinished, 150_000)
			e.Host, e.Reports[0].Model = session.HostGeneric, "model-9"
			return e
		}},
		{"the handoff, with such a window", func(c *settings.Config) { c.Handoff.Enabled = true }, func(w *testEnv) session.Event {
			e := w.at(session.ToolFinished, 180_000)
			e.Host, e.Reports[0].Model = session.HostGeneric, "model-9"
			return e
		}},
		{"an unknown event", nil, func(w *testEnv) session.Event { return w.at(session.Seen, 150_000) }},
		{"inside a sub-agent", nil, func(w *testEnv) session.Event { e := w.at(session.BatchFinished, 150_000); e.AgentID = "a"; return e }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newTestEnv()
			if tt.cfg != nil {
				tt.cfg(&w.cfg)
			}
			if out := w.play(t, tt.ev(w)); len(out.Effects) != 0 {
				t.Errorf("said %q", texts(out.Effects))
			}
		})
	}
}

func TestReminderFigures(t *testing.T) {
	display, actual := 1_000_000, 200_000
	w := newTestEnv()
	w.cfg.Reminder.DisplayLimitTokens, w.cfg.Reminder.ActualLimitTokens = &display, &actual
	w.cfg.Reminder.Message = "{{usedTokens}} {{usedPercent}} {{remainingPercent}} {{limitTokens}} {{actualPercent}} {{bar}} {{model}}"
	got := texts(w.play(t, w.at(session.BatchFinished, 140_000)).Effects)
	want := "140,000 14.0 86.0 1,000,000 70 ███░░░░░░░░░░░░░░░░░ claude-sonnet-4-5\n" +
		"[Context Status: 14.0% used (140,000/1,000,000 tokens), 86.0% remaining]"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Without marks there is no second figure to contradict. So the reminder is relative to a million tokens, the default.
func TestReminderAgainstAMillionWithoutTracking(t *testing.T) {
	w := newTestEnv()
	w.cfg.Tracking.MaxTokens = settings.TokenLimit{}
	if got := texts(w.play(t, w.at(session.BatchFinished, 140_000)).Effects); !strings.Contains(got, "14.0% used (140,000/1,000,000 tokens)") {
		t.Errorf("got %q", got)
	}
}

func TestReminderRearms(t *testing.T) {
	for rearm, want := range map[string]bool{"session": false, "compaction": true} {
		w := newTestEnv()
		w.cfg.Reminder.Rearm = rearm
		w.play(t, w.at(session.BatchFinished, 150_000), session.Event{Kind: session.CompactionOpened}, session.Event{Kind: session.CompactionDone})
		if got := len(w.play(t, w.at(session.BatchFinished, 150_000)).Effects) > 0; got != want {
			t.Errorf("rearm %q: a second reminder %v, want %v", rearm, got, want)
		}
	}
}

func TestHandoff(t *testing.T) {
	w := newTestEnv()
	w.cfg.Handoff.Enabled, w.cfg.Reminder.Enabled = true, false
	said := func(ev session.Event) string { return texts(w.play(t, ev).Effects) }
	if got := said(w.at(session.BatchFinished, 159_999)); got != "" {
		t.Errorf("below the mark: %q", got)
	}
	if got := said(w.at(session.BatchFinished, 160_000)); !strings.Contains(got, "80% (160,000/200,000 tokens)") {
		t.Errorf("at the mark: %q", got)
	}
	if got := said(w.at(session.BatchFinished, 165_000)); got != "" || w.session().ThresholdCrossedAt.IsZero() {
		t.Errorf("a second time: %q", got)
	}
	w.play(t, session.Event{Kind: session.CompactionOpened}, session.Event{Kind: session.CompactionDone})
	if s := w.session(); !s.ThresholdCrossedAt.IsZero() || s.HandoffComplete {
		t.Error("the compaction did not clear the handoff")
	}
	w.play(t, session.Event{Kind: session.HandoffCompleted})
	if got := said(w.at(session.BatchFinished, 170_000)); got != "" {
		t.Errorf("after the handoff: %q", got)
	}
}

// The explanation says what the host's own number is, unless the user's settings make that agree with the window.
func TestGuidanceNamesTheHostsCount(t *testing.T) {
	const sentence = "That number is the host's own."
	for _, tt := range []struct {
		settings *model.Settings
		want     bool
	}{{nil, true}, {&model.Settings{Window: 150_000}, true}, {&model.Settings{TrueCount: true}, false}} {
		w := newTestEnv()
		rules := claudeRules
		rules.OwnCount = sentence
		w.rules[session.HostClaudeCode] = rules
		said := texts(w.play(t, session.Event{Kind: session.SessionStarted, Settings: tt.settings}).Effects)
		if strings.HasSuffix(said, "at any level. "+sentence) != tt.want || strings.Contains(said, sentence) != tt.want {
			t.Errorf("%+v: %q", tt.settings, said)
		}
	}
}
